// Distances of pairs of rows and their gradients of every order, against norms of all differences, and the
// memory that they take.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/values.h"
#include "tests/support/threads.h"

namespace lunagrad::tests {
namespace {

const Op& cdist_op() { return *find_op("cdist"); }
const Op& pdist_op() { return *find_op("pdist"); }
constexpr int64_t kDifferences = 2;  // compute_mode: without a product

Tensor cdist(const Tensor& x, const Tensor& y, double p, int64_t mode = 0) {
  return apply1(cdist_op(), {x, y}, {p, mode});
}
Tensor norms(const Tensor& x, const Tensor& y, double p) {
  return norm(unsqueeze(x, -2) - unsqueeze(y, -3), p, {-1});
}
Tensor cosine_similarity(const Tensor& x, const Tensor& y, int dim) {
  return apply1(*find_op("cosine_similarity"), {x, y}, {dim, 1e-8});
}
Tensor pdist(const Tensor& x, double p) { return apply1(pdist_op(), {x}, {p}); }

double largest_error(const Tensor& got, const Tensor& wanted) {
  REQUIRE(got.shape() == wanted.shape());
  return got.numel() == 0 ? 0 : amax(abs(got - wanted)).item() / std::max(1.0, amax(abs(wanted)).item());
}

// The result of f, its gradients, and the gradients of a function of these.
struct Orders {
  Tensor value;
  TensorList first, second;
};
template <class F>
Orders orders_of(F&& f, const TensorList& inputs) {
  TensorList leaves;
  for (const Tensor& x : inputs) leaves.push_back(x.detach().requires_grad_());
  Orders found;
  const Tensor y = f(leaves);
  found.value = y.detach();
  const Tensor seed = reshape(arange(1, double(y.numel() + 1), 1, y.dtype()), y.shape()) / double(y.numel());
  found.first = grad({y}, leaves, {seed}, {{.create_graph = true}});
  Tensor total = zeros({}, y.dtype());
  for (const Tensor& g : found.first) total = total + sum(square(g) + g);
  if (total.requires_grad()) found.second = grad({total}, leaves, {}, {{}, true});
  return found;
}
void check_equal(const Orders& got, const Orders& wanted, double tolerance) {
  CHECK(largest_error(got.value, wanted.value) < tolerance);
  for (size_t i = 0; i < wanted.first.size(); ++i)
    CHECK(largest_error(got.first[i], wanted.first[i]) < 10 * tolerance);
  for (size_t i = 0; i < std::min(got.second.size(), wanted.second.size()); ++i)
    if (got.second[i].defined() && wanted.second[i].defined())
      CHECK(largest_error(got.second[i], wanted.second[i]) < 100 * tolerance);
}

constexpr double kPowers[] = {0.5, 1, 1.5, 2, 2.5, 3, 7, kInf};

TEST_CASE("cdist and its derivatives equal norms of differences") {
  const NoGrad off;
  context().generator.seed(3);
  struct Rows {
    Shape x, y;
  };
  for (const Rows& rows : {Rows{{3, 4}, {5, 4}}, Rows{{30, 5}, {27, 5}}, Rows{{2, 1, 3, 4}, {3, 2, 4}},
                           Rows{{1, 1}, {1, 1}}, Rows{{2, 3}, {4, 2, 3}}})
    for (const double p : kPowers)
      for (const int64_t mode : {int64_t(0), kDifferences}) {
        INFO("p = ", p, ", x1 ", rows.x, ", compute_mode ", mode);
        const TensorList inputs = {randn(rows.x, DType::f64), randn(rows.y, DType::f64)};
        const GradMode on(true);
        const auto wanted = orders_of([&](const TensorList& x) { return norms(x[0], x[1], p); }, inputs);
        const auto got = orders_of([&](const TensorList& x) { return cdist(x[0], x[1], p, mode); }, inputs);
        CHECK((p == 1 || std::isinf(p) || got.second.size() == 2));
        check_equal(got, wanted, 1e-11);
        // Rows and pairs in another order in memory.
        const auto turned = orders_of(
            [&](const TensorList& x) {
              const auto strided = [](const Tensor& t) {
                return transpose(contiguous(transpose(t, -1, -2)), -1, -2);
              };
              return cdist(strided(x[0]), strided(x[1]), p, mode);
            },
            inputs);
        check_equal(turned, wanted, 1e-11);
      }
}

TEST_CASE("pdist and its derivatives equal norms of differences") {
  context().generator.seed(4);
  for (const Shape& shape : {Shape{2, 3}, Shape{7, 4}, Shape{40, 1}})
    for (const double p : kPowers) {
      INFO("p = ", p, ", shape ", shape);
      const int64_t n = shape[0];
      std::vector<int64_t> i, j;
      for (int64_t a = 0; a < n; ++a)
        for (int64_t b = a + 1; b < n; ++b) i.push_back(a), j.push_back(b);
      const TensorList inputs = {randn(shape, DType::f64)};
      const auto wanted = orders_of(
          [&](const TensorList& x) {
            return norm(index_select(x[0], 0, ids(i)) - index_select(x[0], 0, ids(j)), p, {1});
          },
          inputs);
      const auto got = orders_of([&](const TensorList& x) { return pdist(x[0], p); }, inputs);
      check_equal(got, wanted, 1e-11);
      // The gradient without a graph reads the pairs as they are.
      const Tensor leaf = inputs[0].detach().requires_grad_();
      const Tensor y = pdist(leaf, p);
      const Tensor seed =
          reshape(arange(1, double(y.numel() + 1), 1, y.dtype()), y.shape()) / double(y.numel());
      backward(y, seed);
      CHECK(largest_error(leaf.grad(), wanted.first[0]) < 1e-10);
    }
}

TEST_CASE("distances have derivatives of the third order") {
  context().generator.seed(5);
  const Tensor x = randn({3, 2}, DType::f64), y = randn({4, 2}, DType::f64);
  for (const double p : {1.5, 2.0, 3.0, 4.5}) {
    INFO("p = ", p);
    const auto third = [&](auto&& distances) {
      const Tensor a = x.detach().requires_grad_(), b = y.detach().requires_grad_();
      Tensor slope = sum(square(distances(a, b)) + distances(a, b));
      for (int order = 0; order < 3; ++order) {
        const TensorList slopes = grad({slope}, {a, b}, {}, {{.create_graph = true}});
        slope = sum(square(slopes[0])) + sum(square(slopes[1]) * 0.5);
      }
      return slope.item();
    };
    const double wanted = third([&](const Tensor& a, const Tensor& b) { return norms(a, b, p); });
    const double got = third([&](const Tensor& a, const Tensor& b) { return cdist(a, b, p); });
    CHECK(got == doctest::Approx(wanted).epsilon(1e-8));
  }
}

TEST_CASE("equal rows have no slope, and p = 0 has none anywhere") {
  for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, kInf}) {
    INFO("p = ", p);
    const Tensor x = Tensor::from<double>(std::vector<double>{1, 2, 1, 2}, {2, 2}).requires_grad_();
    const Tensor y = cdist(x, x.detach(), p);
    CHECK(amax(y).item() == 0);
    backward(sum(y));
    CHECK(amax(abs(x.grad())).item() == 0);
    const Tensor z = Tensor::from<double>(std::vector<double>{1, 2, 1, 2}, {2, 2}).requires_grad_();
    backward(sum(pdist(z, p)));
    CHECK(amax(abs(z.grad())).item() == 0);
  }
  const Tensor x = Tensor::from<double>(std::vector<double>{0, 3, 1, 0}, {2, 2}).requires_grad_();
  const Tensor y = cdist(x, x, 0);
  CHECK(values(y) == List{0, 2, 2, 0});
  backward(sum(y));
  CHECK(amax(abs(x.grad())).item() == 0);
}

TEST_CASE("rows far from the origin have the gradients of their differences") {
  const NoGrad off;
  context().generator.seed(8);
  const Tensor near = randn({40, 16}), also = randn({30, 16});
  const Tensor x = round(near * 64.0) / 64.0, y = round(also * 64.0) / 64.0;  // exact also at 4096
  const auto gradients = [&](double origin) {
    const GradMode on(true);
    const Tensor a = (x + origin).detach().requires_grad_(), b = (y + origin).detach().requires_grad_();
    return grad({sum(cdist(a, b, 2))}, {a, b}, {});
  };
  const TensorList wanted = gradients(0), got = gradients(4096);
  for (size_t i = 0; i < 2; ++i) CHECK(largest_error(got[i], wanted[i]) < 1e-5);
}

TEST_CASE("one row far from all others leaves the gradients of the others as they are") {
  context().generator.seed(9);
  const Tensor x = randn({40, 16}) + 100, near = randn({30, 16}) + 100;
  const auto gradient = [&](const Tensor& y, DType type) {
    const Tensor a = to(x, type).detach().requires_grad_();
    return to(grad({sum(cdist(a, to(y, type), 2))}, {a}, {})[0], DType::f64);
  };
  for (const int64_t place : {0, 15, 30}) {
    const Tensor y =
        cat({narrow(near, 0, 0, place), full({1, 16}, 1e10), narrow(near, 0, place, 30 - place)}, 0);
    CHECK(largest_error(gradient(y, DType::f32), gradient(y, DType::f64)) < 1e-5);
  }
}

TEST_CASE("each of several largest differences has the whole slope, as in PyTorch") {
  const Tensor x = Tensor::from<float>(std::vector<float>{1, -2, 2}, {1, 3}).requires_grad_();
  backward(cdist(x, zeros({1, 3}), kInf), full({1, 1}, 3.0));
  CHECK(values(x.grad()) == List{0, -3, 3});
}

TEST_CASE("distances of no rows and of rows without elements") {
  CHECK(cdist(zeros({0, 3}), zeros({2, 3}), 3).shape() == Shape{0, 2});
  CHECK(values(cdist(zeros({2, 0}), zeros({1, 0}), 3)) == List{0, 0});
  CHECK(pdist(zeros({1, 3}), 2).shape() == Shape{0});
  CHECK(pdist(zeros({0, 3}), 2).shape() == Shape{0});
  CHECK(values(pdist(zeros({3, 0}), 2)) == List{0, 0, 0});
  const Tensor x = ones({2, 3}).requires_grad_();
  backward(sum(cdist(x, zeros({0, 3}), 3)));
  CHECK(values(x.grad()) == List(6, 0));
  const Tensor one = ones({1, 3}).requires_grad_();
  backward(sum(pdist(one, 2)));
  CHECK(values(one.grad()) == List(3, 0));
}

TEST_CASE("NaN and infinities pass through distances and sums of pairs") {
  const Tensor x = Tensor::from<float>(std::vector<float>{float(kNaN), 1, float(kInf), 1, 0, 1}, {3, 2}),
               y = zeros({1, 2});
  for (const double p : {0.5, 1.0, 2.0, 3.0, kInf}) {
    const List found = values(cdist(x, y, p));
    CHECK(std::isnan(found[0]));
    CHECK(found[1] == kInf);
    CHECK(found[2] == doctest::Approx(1));
  }
}

TEST_CASE("the gradients of distances have the same bits for any number of threads") {
  context().generator.seed(6);
  const Tensor x = randn({65, 9}), y = randn({33, 9});
  const int threads = thread_count();
  for (const double p : {1.5, 2.0, 3.0}) {
    std::vector<List> found;
    for (const int count : {1, 2, 2}) {
      set_thread_count(count);
      const Tensor a = x.detach().requires_grad_(), b = y.detach().requires_grad_();
      backward(sum(square(cdist(a, b, p))));
      found.push_back(values(cat({a.grad(), b.grad()})));
    }
    set_thread_count(threads);
    CHECK(found[0] == found[1]);
    CHECK(found[1] == found[2]);
  }
}

// The peak in relation to the bytes of operands and results.
class PeakRatio {
 public:
  // `held`: bytes of tensors that exist already.
  explicit PeakRatio(size_t held = 0) : before_(cpu_device().memory().in_use - held) {
    cpu_device().reset_peak();
  }
  double over(std::initializer_list<const Tensor*> tensors) const {
    double bytes = 0;
    for (const Tensor* const x : tensors) bytes += double(x->nbytes());
    return double(cpu_device().memory().peak - before_) / bytes;
  }

 private:
  size_t before_;
};

Tensor leaf(const Shape& shape, DType type) { return to(randn(shape), type).detach().requires_grad_(); }

TEST_CASE("distances and their gradients take memory for operands and results alone") {
  const Threads one(1);
  struct Rows {
    Shape x, y;
  };
  for (const DType type : {DType::f32, DType::bf16, DType::f16})
    for (const Rows& rows : {Rows{{600, 64}, {500, 64}}, Rows{{1, 3000}, {500, 3000}},
                             Rows{{70, 900}, {60, 900}}, Rows{{300, 20, 12}, {300, 15, 12}}})
      for (const double p : {0.0, 0.5, 1.0, 2.0, 3.0, kInf}) {
        // Products of few wide f32 rows take their own memory for blocks.
        if (type == DType::f32 && p == 2 && rows.x[1] >= 900) continue;
        INFO("p = ", p, ", ", type, ", ", rows.x, " and ", rows.y);
        const Tensor x = leaf(rows.x, type), y = leaf(rows.y, type);
        const PeakRatio peak(x.nbytes() + y.nbytes());
        const Tensor distances = cdist(x, y, p);
        CHECK(peak.over({&x, &y, &distances}) < 1.5);
        const Tensor g = ones_like(distances.detach());
        backward(distances, g);
        const Tensor dx = x.grad(), dy = y.grad();
        CHECK(peak.over({&x, &y, &distances, &g, &dx, &dy}) < 1.5);
      }
  for (const DType type : {DType::f32, DType::bf16})
    for (const Shape& shape : {Shape{800, 64}, Shape{90, 1000}})
      for (const double p : {0.0, 0.5, 1.0, 2.0, 3.0, kInf}) {
        if (type == DType::f32 && p == 2 && shape[1] == 1000) continue;
        INFO("pdist, p = ", p, ", ", type, ", ", shape);
        const Tensor x = leaf(shape, type);
        const PeakRatio peak(x.nbytes());
        const Tensor distances = pdist(x, p);
        CHECK(peak.over({&x, &distances}) < 1.5);
        const Tensor g = ones_like(distances.detach());
        backward(distances, g);
        const Tensor dx = x.grad();
        CHECK(peak.over({&x, &distances, &g, &dx}) < 1.5);
      }
}

TEST_CASE("distances of 16-bit rows and their derivatives are rounded once") {
  context().generator.seed(14);
  struct Rows {
    Shape x, y;
  };
  const auto gradients = [](auto&& f, const TensorList& inputs, bool create_graph) {
    TensorList leaves;
    for (const Tensor& x : inputs) leaves.push_back(x.detach().requires_grad_());
    const Tensor y = f(leaves);
    const Tensor steps = remainder(arange(0, double(y.numel()), 1, DType::f64), Tensor::number(7.0)) - 2.5;
    GradOptions options;
    options.create_graph = create_graph;
    TensorList found = grad({y}, leaves, {to(reshape(steps, y.shape()), y.dtype())}, options);
    if (create_graph) {
      Tensor total = zeros({}, DType::f64);
      for (const Tensor& g : found) total = total + sum(square(to(g, DType::f64)));
      for (const Tensor& second : grad({total}, leaves, {}, {{}, true}))
        if (second.defined()) found.push_back(second);
    }
    found.push_back(y.detach());
    return found;
  };
  const auto compare = [&](auto&& f, const TensorList& rows, double p) {
    for (const DType type : {DType::bf16, DType::f16})
      for (const bool create_graph : {false, true}) {
        // Distances of wide rows are too large for f16.
        if (type == DType::f16 && p == 0.5 && rows[0].size(-1) >= 700) continue;
        if (create_graph && (p <= 1 || std::isinf(p))) continue;
        INFO("p = ", p, ", ", type, ", ", rows[0].shape(), ", graph ", create_graph);
        TensorList halves, exact;
        for (const Tensor& x : rows)
          halves.push_back(to(x, type)), exact.push_back(to(halves.back(), DType::f64));
        const TensorList wanted = gradients(f, exact, create_graph), got = gradients(f, halves, create_graph),
                         again = gradients(f, halves, create_graph);
        REQUIRE(got.size() == wanted.size());
        for (size_t i = 0; i < got.size(); ++i) {
          CHECK(got[i].dtype() == type);
          CHECK(largest_error(to(got[i], DType::f64), wanted[i]) < (type == DType::bf16 ? 2e-2 : 3e-3));
          CHECK(values(got[i]) == values(again[i]));
        }
      }
  };
  for (const double p : {0.0, 0.5, 1.0, 2.0, 3.0}) {
    for (const Rows& rows :
         {Rows{{300, 20}, {170, 20}}, Rows{{6, 1, 30, 5}, {5, 27, 5}}, Rows{{1, 700}, {60, 700}}})
      compare([p](const TensorList& x) { return cdist(x[0], x[1], p); }, {randn(rows.x), randn(rows.y)}, p);
    compare([p](const TensorList& x) { return cdist(transpose(x[0], 0, 1), x[1], p); },
            {randn({20, 200}), randn({170, 20})}, p);
    for (const Shape& shape : {Shape{150, 20}, Shape{2, 900}})
      compare([p](const TensorList& x) { return pdist(x[0], p); }, {randn(shape)}, p);
  }
}

TEST_CASE("largest differences of 16-bit rows have the slope of the differences that round to the distance") {
  context().generator.seed(15);
  for (const DType type : {DType::bf16, DType::f16}) {
    const Tensor x = to(randn({60, 7}), type).requires_grad_(), y = to(randn({50, 7}), type);
    const Tensor distances = cdist(x, y, kInf);
    backward(sum(distances));
    const Tensor apart = to(unsqueeze(to(x.detach(), DType::f32), 1) - to(y, DType::f32), type);
    const Tensor slopes =
        to(eq(abs(apart), unsqueeze(distances.detach(), 2)), DType::f32) * sign(to(apart, DType::f32));
    CHECK(largest_error(to(x.grad(), DType::f32), sum(slopes, {1})) < 1e-6);
    const Tensor z = to(randn({40, 7}), type).requires_grad_();
    backward(sum(cdist(z, z.detach(), kInf)));
    const Tensor of_square = z.grad();
    z.set_grad({});
    backward(sum(pdist(z, kInf)));
    CHECK(largest_error(to(z.grad(), DType::f32), to(of_square, DType::f32)) < 1e-6);
  }
}

TEST_CASE("gradients of gradients of distances make no tensor of the differences") {
  for (const double p : {1.5, 2.0, 3.0}) {
    INFO("p = ", p);
    const PeakRatio peak;
    const Tensor x = randn({300, 64}).requires_grad_(), y = randn({200, 64}).requires_grad_();
    const Tensor distances = cdist(x, y, p);
    const TensorList slopes = grad({sum(distances)}, {x, y}, {}, {{.create_graph = true}});
    backward(sum(square(slopes[0])) + sum(square(slopes[1])));
    CHECK(peak.over({&x, &y, &distances}) < 12);  // the differences alone: 35
  }
}

TEST_CASE("cosine similarities of all pairs take memory for operands and results alone") {
  const PeakRatio peak;
  const Tensor x = randn({300, 64}), y = randn({200, 64});
  const Tensor found = cosine_similarity(unsqueeze(x, 1), y, 2);
  CHECK(peak.over({&x, &y, &found}) < 2);
  const Tensor wanted =
      cosine_similarity(contiguous(expand(unsqueeze(x, 1), {300, 200, 64})), expand(y, {300, 200, 64}), 2);
  CHECK(largest_error(found, wanted) < 1e-6);
  // An operand of size 1 along dim stands for vectors of equal elements.
  CHECK(largest_error(cosine_similarity(ones({200, 1}), y, 1), cosine_similarity(ones({200, 64}), y, 1)) <
        1e-6);
}

}  // namespace
}  // namespace lunagrad::tests
