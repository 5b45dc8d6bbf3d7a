// Distances of pairs of rows on the Vulkan device against the CPU in double precision: sizes that do and do
// not fill tiles, any strides, rows whose distance cancels or leaves the range, and the memory that they
// take.
#include "runtime/core/product_planner.h"
#include "runtime/core/work_times.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/matrices.h"

namespace lunagrad::tests {
namespace {

// Each power has shaders of its own, which a CPU driver compiles slowly.
const std::vector<double> kPowers = {0, 0.5, 1, 2, 3, 20, INFINITY}, kFewPowers = {1.5, 2};

Tensor cdist(const Tensor& x, const Tensor& y, double p, int64_t mode = 0) {
  return apply1(*find_op("cdist"), {x, y}, {p, mode});
}
Tensor pdist(const Tensor& x, double p) { return apply1(*find_op("pdist"), {x}, {p}); }

// The distances and their gradients for a seed that differs from pair to pair.
template <class F>
TensorList with_gradients(F&& f, const TensorList& inputs) {
  TensorList leaves;
  for (const Tensor& x : inputs) leaves.push_back(x.detach().requires_grad_());
  const Tensor y = f(leaves);
  Tensor seed = arange(0, double(y.numel()), 1, DType::i64);
  seed = to(remainder(reshape(seed, y.shape()), Tensor::number(int64_t(7))), DType::f64) - 2.5;
  backward(y, to(to(seed, y.dtype()), y.device()));
  TensorList found = {y.detach()};
  for (const Tensor& x : leaves) found.push_back(x.grad());
  return found;
}
template <class F>
void compare_pairs(F&& f, const TensorList& inputs, double tolerance, const std::string& what) {
  TensorList exact;
  for (const Tensor& x : inputs) exact.push_back(in_double(x));
  const TensorList wanted = with_gradients(f, exact);
  for (const Arrangement arrangement :
       {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
    TensorList there;
    for (const Tensor& x : inputs) there.push_back(arrange(x, arrangement));
    Fallbacks fallbacks;
    const TensorList got = with_gradients(f, there), again = with_gradients(f, there);
    require_none(fallbacks);
    for (size_t i = 0; i < got.size(); ++i) {
      CHECK_MESSAGE(distance(got[i], wanted[i]) < tolerance,
                    what << ", result " << i << ", layout " << int(arrangement));
      CHECK_MESSAGE(words(got[i]) == words(again[i]), what << ", result " << i << ", bits");
    }
  }
}

TEST_CASE("distances on the device, and their gradients, equal the CPU's") {
  struct Rows {
    Shape x, y;
  };
  for (const Rows& rows :
       {Rows{{1, 1}, {1, 1}}, Rows{{65, 3}, {63, 3}}, Rows{{130, 17}, {70, 17}}, Rows{{64, 64}, {64, 64}},
        Rows{{5, 70}, {600, 70}}, Rows{{3, 2}, {2050, 2}}, Rows{{2, 1, 5, 9}, {3, 30, 9}}})
    for (const double p : rows.x[rows.x.size() - 2] == 130 ? kPowers : kFewPowers)
      compare_pairs([p](const TensorList& x) { return cdist(x[0], x[1], p); },
                    {random(rows.x, 1), random(rows.y, 2)}, p == 20 ? 1e-4 : 2e-5,
                    text("p = ", p, ", ", rows.x, " and ", rows.y));
}

TEST_CASE("distances and gradients of many pairs, which are products on the device, equal the CPU's") {
  struct Rows {
    Shape x, y;
  };
  for (const Rows& rows : {Rows{{701, 50}, {499, 50}}, Rows{{3, 1, 300, 40}, {2, 260, 40}},
                           Rows{{28, 160, 64}, {64, 64}}, Rows{{130, 130}, {2000, 130}}})
    compare_pairs([](const TensorList& x) { return cdist(x[0], x[1], 2); },
                  {random(rows.x, 21), random(rows.y, 22)}, 2e-5, text(rows.x, " and ", rows.y));
  compare_pairs([](const TensorList& x) { return pdist(x[0], 2); }, {random({601, 51}, 23)}, 2e-5,
                "pdist by products");
}

TEST_CASE("products of rows on the device keep the digits of close rows") {
  // Two clouds far from the origin, one row of the second far from both, and one equal to a row of the first.
  const Tensor x = random({600, 50}, 24) + 1000, near = random({598, 50}, 25) + 1000;
  const Tensor y = cat({full({1, 50}, 1e7), near, narrow(x, 0, 7, 1)}, 0);
  const auto f = [](const TensorList& rows) { return cdist(rows[0], rows[1], 2); };
  const TensorList wanted = with_gradients(f, {in_double(x), in_double(y)});
  const Fallbacks fallbacks;
  const TensorList got = with_gradients(f, {to(x, gpu()), to(y, gpu())});
  require_none(fallbacks);
  for (size_t i = 1; i < 3; ++i) CHECK(distance(got[i], wanted[i]) < 1e-4);
  const Tensor close = narrow(got[0], 1, 1, 599);
  CHECK(distance(close, narrow(wanted[0], 1, 1, 599)) < 1e-6);
  CHECK(select(select(close, 0, 7), 0, 598).item() == 0);
}

TEST_CASE("pdist on the device, and its gradient, equal the CPU's") {
  for (const Shape& shape : {Shape{2, 3}, Shape{65, 5}, Shape{130, 20}})
    for (const double p : shape[0] == 65 ? kPowers : kFewPowers)
      compare_pairs([p](const TensorList& x) { return pdist(x[0], p); }, {random(shape, 3)},
                    p == 20 ? 1e-4 : 2e-5, text("pdist, p = ", p, ", ", shape));
}

TEST_CASE("equal rows have the distance 0 on the device, and close rows keep their digits") {
  const NoGrad off;
  const Tensor x = to(random({70, 20}, 4), gpu()) + 100;
  for (const double p : {1.0, 2.0, 3.0}) {
    const Tensor found = cdist(x, x, p);
    CHECK(amax(abs(diagonal(found))).item() == 0);
    CHECK(distance(found, cdist(in_double(x), in_double(x), p)) < 1e-6);
  }
}

TEST_CASE("distances on the device whose powers leave the range") {
  const NoGrad off;
  const Tensor x = random({70, 5}, 5), y = random({33, 5}, 6);
  for (const double scale : {0x1p-90, 0x1p60, 0x1p120})
    for (const double p : {0.5, 2.0, 3.0}) {
      const double part = p == 0.5 ? 1e-3 : 1;
      const auto scaled = [&](const Tensor& t) { return t * (scale * part); };
      const Tensor found = in_double(cdist(to(scaled(x), gpu()), to(scaled(y), gpu()), p)) / scale;
      CHECK_MESSAGE(distance(found, cdist(in_double(x * part), in_double(y * part), p)) < 2e-5,
                    "p = " << p << ", scale " << scale);
    }
  const float nan = std::nanf(""), inf = INFINITY;
  const Tensor far = to(Tensor::from<float>(std::vector<float>{nan, 1, inf, 1, 0, 1}, {3, 2}), gpu());
  for (const double p : {0.5, 1.0, 2.0, 3.0, double(INFINITY)}) {
    const std::vector<double> found = cdist(far, zeros({1, 2}, DType::f32, gpu()), p).to_vector<double>();
    CHECK(std::isnan(found[0]));
    CHECK(std::isinf(found[1]));
    CHECK(found[2] == doctest::Approx(1));
  }
}

TEST_CASE("distances of no rows, of no elements and of 16-bit floats on the device") {
  CHECK(cdist(zeros({0, 3}, DType::f32, gpu()), zeros({2, 3}, DType::f32, gpu()), 3).shape() == Shape{0, 2});
  const Tensor none = zeros({2, 0}, DType::f32, gpu());
  CHECK(cdist(none, none, 3).to_vector<double>() == std::vector<double>(4, 0.0));
  const Tensor x = to(ones({2, 3}), gpu()).requires_grad_();
  backward(sum(cdist(x, zeros({0, 3}, DType::f32, gpu()), 3)));
  CHECK(x.grad().to_vector<double>() == std::vector<double>(6, 0.0));
  const Fallbacks fallbacks;
  for (const DType type : {DType::f16, DType::bf16}) {
    const Tensor a = to(random({30, 9}, 7), type), b = to(random({40, 9}, 8), type);
    const Tensor found = cdist(to(a, gpu()), to(b, gpu()), 2);
    CHECK(found.dtype() == type);
    CHECK(distance(found, cdist(in_double(a), in_double(b), 2)) < (type == DType::f16 ? 1e-3 : 5e-3));
  }
  require_none(fallbacks);
}

// Distances and gradients of 16-bit rows are rounded once, except that the gradients read rounded distances.
TEST_CASE("distances of 16-bit rows on the device, and their gradients, are not converted as a whole") {
  struct Rows {
    Shape x, y;
    double p;
  };
  for (const DType type : {DType::bf16, DType::f16})
    for (const Rows& rows :
         {Rows{{65, 3}, {63, 3}, 1.5}, Rows{{130, 17}, {70, 17}, 1}, Rows{{30, 17}, {70, 17}, 3},
          Rows{{2, 1, 5, 9}, {3, 30, 9}, 2}, Rows{{2, 700, 50}, {499, 50}, 2}}) {
      const std::string what = text("p = ", rows.p, ", ", rows.x, ", ", type);
      const auto f = [&](const TensorList& x) { return cdist(x[0], x[1], rows.p); };
      const TensorList halves = {to(random(rows.x, 31), type), to(random(rows.y, 32), type)};
      const TensorList wanted = with_gradients(f, {in_double(halves[0]), in_double(halves[1])});
      Fallbacks fallbacks;
      const TensorList got = with_gradients(f, {to(halves[0], gpu()), to(halves[1], gpu())});
      require_none(fallbacks);
      for (size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].dtype() == type);
        CHECK_MESSAGE(distance(got[i], wanted[i]) < (type == DType::bf16 ? 2e-2 : 3e-3),
                      what << ", result " << i);
      }
      if (rows.x.size() > 2) continue;
      const auto of_one = [&](const TensorList& x) { return pdist(x[0], rows.p); };
      const TensorList pairs = with_gradients(of_one, {in_double(halves[0])});
      const TensorList found = with_gradients(of_one, {to(halves[0], gpu())});
      for (size_t i = 0; i < 2; ++i)
        CHECK_MESSAGE(distance(found[i], pairs[i]) < (type == DType::bf16 ? 2e-2 : 3e-3),
                      what << ", pdist " << i);
    }
}

TEST_CASE("the largest differences of 16-bit rows on the device are the CPU's") {
  for (const DType type : {DType::bf16, DType::f16}) {
    const Tensor x = to(random({60, 7}, 33), type), y = to(random({50, 7}, 34), type);
    const auto f = [](const TensorList& rows) { return cdist(rows[0], rows[1], INFINITY); };
    const TensorList wanted = with_gradients(f, {x, y}),
                     got = with_gradients(f, {to(x, gpu()), to(y, gpu())});
    for (size_t i = 0; i < got.size(); ++i) CHECK(distance(got[i], wanted[i]) < 1e-2);
  }
}

TEST_CASE("both gradients of 2-norms on the device share one pass over the pairs") {
  const auto passes = [] {
    uint64_t count = 0;
    for (const KernelUse& use : dynamic_cast<WorkTimes&>(gpu()).kernels())
      if (use.name.find("pair_weights") != std::string::npos) count += use.dispatches;
    return count;
  };
  const Tensor x = to(random({1000, 50}, 35), gpu()), y = to(random({500, 50}, 36), gpu());
  for (const bool both : {true, false}) {
    const Tensor a = x.detach().requires_grad_(), b = both ? y.detach().requires_grad_() : y;
    const Tensor distances = cdist(a, b, 2);
    const uint64_t before = passes();
    backward(sum(distances));
    CHECK(passes() == before + 1);
  }
}

TEST_CASE("gradients of gradients of distances on the device equal the CPU's") {
  for (const double p : {1.5, 2.0, 3.0})
    for (const Shape& shape : {Shape{3, 5}}) {
      const auto second = [&](const Tensor& x, const Tensor& y) {
        const Tensor a = x.detach().requires_grad_(), b = y.detach().requires_grad_();
        const TensorList slopes = grad({sum(square(cdist(a, b, p)))}, {a, b}, {}, {{.create_graph = true}});
        return grad({sum(square(slopes[0])) + sum(slopes[1] * square(slopes[1]))}, {a, b});
      };
      const Tensor x = random(shape, 9), y = random({35, shape[1]}, 10);
      const TensorList wanted = second(in_double(x), in_double(y));
      const Fallbacks fallbacks;
      const TensorList got = second(to(x, gpu()), to(y, gpu()));
      require_none(fallbacks);
      for (size_t i = 0; i < 2; ++i) CHECK_MESSAGE(distance(got[i], wanted[i]) < 1e-3, "p = " << p);
    }
}

TEST_CASE("distances and their gradients on the device take memory for operands and results alone") {
  const auto ratio = [](auto&& f) {
    gpu().sync();
    gpu().reset_peak();
    const size_t before = gpu().memory().in_use;
    const double bytes = f();
    gpu().sync();
    return double(gpu().memory().peak - before) / bytes;
  };
  const auto total = [](std::initializer_list<const Tensor*> tensors) {
    double bytes = 0;
    for (const Tensor* const x : tensors) bytes += double(x->nbytes());
    return bytes;
  };
  struct Rows {
    int64_t m, n;
    double p;
    int64_t k;
    DType type;
  };
  // A large device computes small products in parts, which need memory of a fixed size.
  const int64_t times = dynamic_cast<ProductPlanner&>(gpu()).computes_on_cpu() ? 1 : 4;
  for (const auto& [m, n, p, k, type] : {Rows{300, 250, 0.5, 32, DType::f32},
                                         {300, 250, 2, 32, DType::f32},
                                         {300, 250, 3, 32, DType::f32},
                                         {800, 700, 2, 32, DType::f32},
                                         {700, 800, 2, 100, DType::f32},
                                         {800, 700, 1, 32, DType::bf16},
                                         {800, 700, 2, 32, DType::bf16},
                                         {800, 700, INFINITY, 32, DType::bf16},
                                         {800, 700, 0, 32, DType::bf16},
                                         {2000, 30, 2, 500, DType::bf16},
                                         {50, 40, 2, 2000, DType::bf16}}) {
    const Tensor a = to(random({m * times, k}, 11), type), b = to(random({n * times, k}, 12), type);
    CHECK_MESSAGE(ratio([&] {
                    const Tensor x = to(a, gpu()), y = to(b, gpu()), distances = cdist(x, y, p);
                    return total({&x, &y, &distances});
                  }) < 1.5,
                  "p = " << p << ", " << type << ", " << m << " x " << n << " x " << k);
    CHECK_MESSAGE(ratio([&] {
                    const Tensor x = to(a, gpu()).requires_grad_(), y = to(b, gpu()).requires_grad_();
                    const Tensor distances = cdist(x, y, p), g = ones_like(distances.detach());
                    backward(distances, g);
                    const Tensor dx = x.grad(), dy = y.grad();
                    return total({&x, &y, &distances, &g, &dx, &dy});
                  }) < 1.5,
                  "gradients, p = " << p << ", " << type << ", " << m << " x " << n << " x " << k);
    if (k == 100) continue;  // few results of a long product are added up in parts
    CHECK_MESSAGE(ratio([&] {
                    const Tensor x = to(a, gpu()).requires_grad_();
                    const Tensor distances = pdist(x, p), g = ones_like(distances.detach());
                    backward(distances, g);
                    const Tensor dx = x.grad();
                    return total({&x, &distances, &g, &dx});
                  }) < 1.5,
                  "pdist, p = " << p << ", " << type << ", " << m << " x " << k);
  }
}

}  // namespace
}  // namespace lunagrad::tests
