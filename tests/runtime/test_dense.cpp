// Products, convolutions, pooling, normalisation and optimizers against plain loops in double precision, with
// the sizes and layouts at which blocked kernels go wrong. Gradients: test_ops.cpp.
#include <doctest/doctest.h>
#include <hwy/targets.h>

#include <array>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "runtime/core/random.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/support/timing.h"

namespace lunagrad {
namespace {

// Uniform in [-1, 1), f64, the same for the same stream.
Tensor random_tensor(const Shape& shape, uint64_t stream) {
  std::vector<double> values(size_t(numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 2 * uniform_f32(philox(7, stream, i)[0]) - 1;
  return Tensor::from<double>(values, shape);
}

double largest_difference(const Tensor& a, const std::vector<double>& b) {
  const std::vector<double> values = a.to_vector<double>();
  REQUIRE(values.size() == b.size());
  double worst = 0;
  for (size_t i = 0; i < b.size(); ++i) worst = std::max(worst, std::abs(values[i] - b[i]));
  return worst;
}

std::vector<double> naive_matmul(const Tensor& a, const Tensor& b) {
  const int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>();
  std::vector<double> c(size_t(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j) c[size_t(i * n + j)] += x[size_t(i * k + l)] * y[size_t(l * n + j)];
  return c;
}

TEST_CASE("matmul is right for odd sizes, every layout of its operands, and both precisions") {
  const NoGrad off;
  struct Size {
    int64_t m, n, k;
  };
  for (const Size s : {Size{1, 1, 1},
                       {1, 7, 5},
                       {7, 1, 5},
                       {5, 7, 1},
                       {17, 33, 65},
                       {3, 300, 200},
                       {257, 129, 191},
                       {32, 256, 192},
                       {61, 77, 401},
                       {400, 91, 60},
                       {64, 208, 90}}) {
    const Tensor a = random_tensor({s.m, s.k}, 1), b = random_tensor({s.k, s.n}, 2);
    const std::vector<double> expected = naive_matmul(a, b);
    const auto layouts = [](const Tensor& x) {
      const auto memory = [&] { return random_tensor({2 * x.size(0), 3 * x.size(1)}, 3); };
      const Tensor rows_apart = slice(narrow(memory(), 1, 1, x.size(1)), 0, 0, 2 * x.size(0), 2);
      const Tensor all_apart = slice(slice(memory(), 1, 0, 3 * x.size(1), 3), 0, 0, 2 * x.size(0), 2);
      return TensorList{x, t(clone(t(x))), copy_(rows_apart, x), copy_(all_apart, x)};
    };
    for (const Tensor& left : layouts(a))
      for (const Tensor& right : layouts(b)) {
        CHECK(largest_difference(matmul(left, right), expected) < 1e-12 * double(s.k));
        CHECK(largest_difference(matmul(to(left, DType::f32), to(right, DType::f32)), expected) <
              1e-6 * double(s.k));
      }
  }
}

TEST_CASE("matmul of expanded and of overlapping operands") {
  const NoGrad off;
  const Tensor row = random_tensor({1, 5}, 1), column = random_tensor({4, 1}, 2),
               b = random_tensor({5, 3}, 3);
  CHECK(largest_difference(matmul(expand(row, {4, 5}), b), naive_matmul(clone(expand(row, {4, 5})), b)) <
        1e-14);
  CHECK(largest_difference(matmul(expand(column, {4, 5}), b),
                           naive_matmul(clone(expand(column, {4, 5})), b)) < 1e-14);
  const Tensor one = random_tensor({1}, 5), vector = expand(one, {5});
  CHECK(largest_difference(matmul(vector, b), naive_matmul(clone(expand(one, {1, 5})), b)) < 1e-14);
  CHECK(largest_difference(matmul(t(b), vector), naive_matmul(t(b), clone(expand(one, {5, 1})))) < 1e-14);
  const Tensor windows = as_strided(random_tensor({9}, 4), {5, 5}, {1, 1}, 0);
  CHECK(largest_difference(matmul(windows, b), naive_matmul(clone(windows), b)) < 1e-14);
}

TEST_CASE("matmul batches broadcast, and a batch of many small products is complete") {
  const NoGrad off;
  const Tensor a = random_tensor({3, 1, 4, 5}, 1), b = random_tensor({2, 5, 6}, 2);
  const Tensor c = matmul(a, b);
  REQUIRE(c.shape() == Shape{3, 2, 4, 6});
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 2; ++j)
      CHECK(largest_difference(select(select(c, 0, i), 0, j),
                               naive_matmul(select(select(a, 0, i), 0, 0), select(b, 0, j))) < 1e-14);
  const Tensor many = random_tensor({5000, 3, 4}, 3), others = random_tensor({5000, 4, 2}, 4);
  const Tensor products = matmul(many, others);
  for (int64_t i = 0; i < 5000; i += 613)
    CHECK(largest_difference(select(products, 0, i), naive_matmul(select(many, 0, i), select(others, 0, i))) <
          1e-14);
}

TEST_CASE("batches of tiny products are right for every size and layout on every SIMD target") {
  const NoGrad off;
  const auto supported = hwy::SupportedTargets();
  for (const int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON, HWY_SCALAR}) {
    if (!(supported & HWY_TARGETS & target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    for (const int64_t m : {2, 3, 4, 5, 18})
      for (const int64_t n : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 47, 48, 63, 64, 65})
        for (const int64_t k : {1, 2, 7, 16, 33}) {
          INFO(m << " x " << n << " x " << k);
          const Tensor a = random_tensor({2, 1, m, k}, 11), b = random_tensor({3, k, n}, 12);
          const Tensor turned_a = transpose(clone(transpose(a, -2, -1)), -2, -1);
          const Tensor turned_b = transpose(clone(transpose(b, -2, -1)), -2, -1);
          std::vector<double> expected;
          for (int64_t i = 0; i < 2; ++i)
            for (int64_t j = 0; j < 3; ++j) {
              const auto one = naive_matmul(select(select(a, 0, i), 0, 0), select(b, 0, j));
              expected.insert(expected.end(), one.begin(), one.end());
            }
          for (const Tensor& left : {a, turned_a})
            for (const Tensor& right : {b, turned_b}) {
              CHECK(largest_difference(matmul(left, right), expected) < 1e-13);
              CHECK(largest_difference(matmul(to(left, DType::f32), to(right, DType::f32)), expected) < 2e-5);
            }
        }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST_CASE("products with long sums and few results have the same bits for any number of threads") {
  const int before = thread_count();
  const auto all_of = [] {
    TensorList results;
    for (const auto [m, n, k] : {std::array<int64_t, 3>{64, 64, 9000}, {3, 65, 20001}, {130, 5, 7000}}) {
      const Tensor a = to(random_tensor({k, m}, 1), DType::f32), b = to(random_tensor({k, n}, 2), DType::f32);
      results.push_back(matmul(t(a), b));
      Tensor weight = zeros({m, n}).requires_grad_();
      const Tensor rows = to(random_tensor({k, n}, 3), DType::f32);
      backward(linear(b, weight), a);
      backward(linear(rows, weight), a);  // adds to the gradient
      results.push_back(weight.grad());
      results.push_back(linear(t(a), t(b), to(random_tensor({n}, 4), DType::f32), Activation::relu));
    }
    return results;
  };
  set_thread_count(1);
  const TensorList expected = all_of();
  const Tensor a = random_tensor({9000, 64}, 1), b = random_tensor({9000, 64}, 2);
  CHECK(largest_difference(expected[0], naive_matmul(t(a), b)) < 2e-3);
  CHECK(largest_difference(matmul(t(a), b), naive_matmul(t(a), b)) < 1e-10);
  for (const int threads : {2, 7, 16}) {
    set_thread_count(threads);
    const TensorList got = all_of();
    for (size_t i = 0; i < got.size(); ++i)
      CHECK(largest_difference(got[i], expected[i].to_vector<double>()) == 0);
  }
  set_thread_count(before);
}

TEST_CASE("products of a few rows are right in every layout, in the same bits for any number of threads") {
  const NoGrad off;
  const int before = thread_count();
  for (const auto [m, n, k] : {std::array<int64_t, 3>{1, 1500, 1300},
                               {2, 1003, 64},
                               {2, 3000, 1100},
                               {3, 4000, 515},
                               {5, 999, 65},
                               {8, 2048, 300},
                               {16, 700, 515},
                               {3001, 3, 64},
                               {4000, 13, 131},
                               {17, 600, 200}})
    for (const bool a_turned : {false, true})
      for (const bool b_turned : {false, true}) {
        const Tensor a = random_tensor({m, k}, 11), b = random_tensor({k, n}, 12);
        const std::vector<double> expected = naive_matmul(a, b);
        const auto product = [&](DType type) {
          const Tensor x = to(a_turned ? contiguous(t(a)) : a, type),
                       y = to(b_turned ? contiguous(t(b)) : b, type);
          return matmul(a_turned ? t(x) : x, b_turned ? t(y) : y);
        };
        set_thread_count(1);
        const Tensor alone = product(DType::f32);
        INFO(m, " x ", n, " x ", k, a_turned ? ", first turned" : "", b_turned ? ", second turned" : "");
        CHECK(largest_difference(product(DType::f64), expected) < 1e-11);
        CHECK(largest_difference(alone, expected) < 1e-3);
        if (std::min(m, n) > 16) continue;  // products of BLAS
        for (const int threads : {2, 5, 16}) {
          set_thread_count(threads);
          CHECK(largest_difference(product(DType::f32), alone.to_vector<double>()) == 0);
        }
      }
  set_thread_count(before);
}

TEST_CASE("matmul with nothing to add up is zero, and without results has none") {
  const NoGrad off;
  CHECK(matmul(zeros({3, 0}), zeros({0, 2})).to_vector<double>() == std::vector<double>(6, 0.0));
  CHECK(matmul(zeros({0}), zeros({0})).item() == 0);
  CHECK(matmul(zeros({0, 4}), zeros({4, 2})).shape() == Shape{0, 2});
  CHECK(matmul(zeros({5, 0, 4}), zeros({4, 2})).shape() == Shape{5, 0, 2});
  CHECK(linear(zeros({2, 0}), zeros({3, 0}), ones({3})).to_vector<double>() == std::vector<double>(6, 1.0));
}

TEST_CASE("matmul of integers is exact and wraps around") {
  const NoGrad off;
  const std::vector<int64_t> big{int64_t(1) << 53, 1, 3, -4};
  const Tensor a = Tensor::from<int64_t>(big, {2, 2});
  CHECK(matmul(a, a).to_vector<int64_t>() ==
        std::vector<int64_t>{3, (int64_t(1) << 53) - 4, 3 * (int64_t(1) << 53) - 12, 19});
  const std::vector<uint8_t> bytes{200, 100};
  CHECK(matmul(Tensor::from<uint8_t>(bytes, {2}), Tensor::from<uint8_t>(bytes, {2})).item_integer() ==
        (200 * 200 + 100 * 100) % 256);
}

TEST_CASE(
    "NaN and infinity reach every result that they are part of, and memory that was never written none") {
  const NoGrad off;
  for (const int64_t n : {1, 40}) {
    Tensor a = zeros({n, 8});
    select(select(a, 0, 0), 0, 3).data<float>()[0] = NAN;
    const std::vector<double> c = matmul(a, zeros({8, n})).to_vector<double>();
    for (int64_t i = 0; i < n * n; ++i) CHECK(std::isnan(c[size_t(i)]) == (i < n));
  }
  { const Tensor poison = full({64, 64}, NAN); }  // the block that the next result will reuse
  for (const double value : matmul(ones({64, 8}), ones({8, 64})).to_vector<double>()) REQUIRE(value == 8);
}

TEST_CASE("linear is a product with the transposed weight plus the bias") {
  const NoGrad off;
  struct Size {
    int64_t rows, out, in;
  };
  for (const auto [rows, out, in] : {Size{1, 33, 70}, {2, 33, 70}, {130, 33, 70}, {43, 170, 160}}) {
    const Tensor x = random_tensor({rows, in}, 1), w = random_tensor({out, in}, 2),
                 b = random_tensor({out}, 3);
    std::vector<double> expected = naive_matmul(x, t(w));
    CHECK(largest_difference(linear(x, w), expected) < 1e-12);
    const std::vector<double> bias = b.to_vector<double>();
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += bias[i % size_t(out)];
    CHECK(largest_difference(linear(x, w, b), expected) < 1e-12);
    CHECK(largest_difference(linear(t(clone(t(x))), t(clone(t(w))), b), expected) < 1e-12);
  }
}

TEST_CASE("products are added to the gradient of what is used again, and to no other tensor") {
  Tensor w = random_tensor({6, 6}, 1), v = random_tensor({6, 6}, 2);
  w.requires_grad_();
  v.requires_grad_();
  const Tensor x = random_tensor({4, 6}, 3);
  Tensor seen;
  const auto loss = [&] {
    Tensor y = x;
    for (int i = 0; i < 3; ++i) y = linear(matmul(y, w), w);
    const Tensor shared = w + v;  // its gradient arrives first, and is also v's gradient
    register_hook(shared, [&seen](const Tensor& g) { return seen = g, Tensor(); });
    return sum(y * y) + sum(shared * Tensor::number(4.0));
  };
  const Tensor plain = loss();
  const TensorList expected = grad({plain}, {w, v}, {}, {{.retain_graph = true, .create_graph = true}});
  backward(loss());
  backward(loss());
  const std::vector<double> dw = expected[0].to_vector<double>();
  std::vector<double> twice = dw;
  for (double& each : twice) each *= 2;
  CHECK(largest_difference(w.grad(), twice) < 1e-10);
  CHECK(v.grad().to_vector<double>() == std::vector<double>(36, 8));
  CHECK(seen.to_vector<double>() == std::vector<double>(36, 4));
}

TEST_CASE("a large matmul can be stopped within a tenth of a second of each thread") {
  Context own;
  const UseContext current(own);
  const NoGrad off;
  const Tensor a = ones({6144, 6144});
  double asked = 0;  // processor time of all threads
  std::thread user([&] {
    tests::let_work(0.05);
    own.stop_requested = true;
    asked = tests::process_seconds();
  });
  bool cancelled = false;
  try {
    matmul(a, a);
  } catch (const Error& error) {
    cancelled = error.kind() == ErrorKind::cancelled;
  }
  const double stopped = tests::process_seconds();
  user.join();
  REQUIRE(cancelled);
  CHECK(stopped - asked < 0.1 * thread_count());  // negative: it stopped before the time was read
}

TEST_CASE(
    "layer_norm gives the same for any number of rows, keeps small spreads around large means, and sees "
    "NaN") {
  const NoGrad off;
  for (const int64_t rows : {1, 7, 3000})
    for (const int64_t n : {1, 15, 16, 67, 1030}) {
      const Tensor x = random_tensor({rows, n}, 1), w = random_tensor({n}, 2), b = random_tensor({n}, 3);
      std::vector<double> expected = x.to_vector<double>();
      const std::vector<double> weight = w.to_vector<double>(), bias = b.to_vector<double>();
      for (int64_t r = 0; r < rows; ++r) {
        double mean = 0, variance = 0;
        double* const row = expected.data() + r * n;
        for (int64_t i = 0; i < n; ++i) mean += row[i] / double(n);
        for (int64_t i = 0; i < n; ++i) variance += (row[i] - mean) * (row[i] - mean) / double(n);
        for (int64_t i = 0; i < n; ++i)
          row[i] = (row[i] - mean) / std::sqrt(variance + 1e-5) * weight[size_t(i)] + bias[size_t(i)];
      }
      CHECK(largest_difference(layer_norm(x, {n}, w, b), expected) < 1e-11);
      CHECK(largest_difference(layer_norm(to(x, DType::f32), {n}, to(w, DType::f32), to(b, DType::f32)),
                               expected) < 1e-5);
    }
  const std::vector<float> high{10000, 10001, 10002, 10003};
  const double unit = std::sqrt(1.25 + 1e-5);
  CHECK(largest_difference(layer_norm(Tensor::from<float>(high, {4}), {4}),
                           {-1.5 / unit, -0.5 / unit, 0.5 / unit, 1.5 / unit}) < 1e-6);
  const std::vector<float> broken{1, 2, NAN, 4, 5, 6};
  const std::vector<double> y = layer_norm(Tensor::from<float>(broken, {2, 3}), {3}).to_vector<double>();
  for (size_t i = 0; i < 6; ++i) CHECK(std::isnan(y[i]) == (i < 3));
  CHECK(layer_norm(zeros({0, 4}), {4}).shape() == Shape{0, 4});
}

TEST_CASE("the gradients of layer_norm do not depend on how the rows are dealt to threads") {
  const int before = thread_count();
  TensorList first;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    TensorList leaves{random_tensor({777, 33}, 1), random_tensor({33}, 2), random_tensor({33}, 3)};
    for (Tensor& x : leaves) x.requires_grad_();
    const Tensor y = layer_norm(leaves[0], {33}, leaves[1], leaves[2]);
    const TensorList gradients = grad({y}, leaves, {random_tensor({777, 33}, 4)});
    if (first.empty()) first = gradients;
    for (size_t i = 0; i < 3; ++i)
      CHECK(largest_difference(gradients[i], first[i].to_vector<double>()) < 1e-12);
  }
  set_thread_count(before);
}

struct ConvCase {
  Shape x, weight;
  Dims stride, padding, dilation;
  int64_t groups;
};

// y[n, o, p, q] = bias[o] + sum x[n, c, p s - pad + i d, …] w[o, c, i, j], outside the image x is 0.
std::vector<double> naive_conv(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvCase& c,
                               const Shape& out) {
  const std::vector<double> in = x.to_vector<double>(), weight = w.to_vector<double>(),
                            b = bias.to_vector<double>();
  std::vector<double> y;
  const int64_t per_group = out[1] / c.groups;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t o = 0; o < out[1]; ++o)
      for (int64_t p = 0; p < out[2]; ++p)
        for (int64_t q = 0; q < out[3]; ++q) {
          double sum = b[size_t(o)];
          for (int64_t k = 0; k < c.weight[1]; ++k)
            for (int64_t i = 0; i < c.weight[2]; ++i)
              for (int64_t j = 0; j < c.weight[3]; ++j) {
                const int64_t channel = o / per_group * c.weight[1] + k;
                const int64_t h = p * c.stride[0] - c.padding[0] + i * c.dilation[0];
                const int64_t v = q * c.stride[1] - c.padding[1] + j * c.dilation[1];
                if (h < 0 || h >= c.x[2] || v < 0 || v >= c.x[3]) continue;
                sum += in[size_t(((n * c.x[1] + channel) * c.x[2] + h) * c.x[3] + v)] *
                       weight[size_t(((o * c.weight[1] + k) * c.weight[2] + i) * c.weight[3] + j)];
              }
          y.push_back(sum);
        }
  return y;
}

TEST_CASE("conv2d is the sum over its windows, for every stride, padding, dilation and number of groups") {
  const NoGrad off;
  const ConvCase cases[] = {
      {{2, 3, 8, 9}, {4, 3, 3, 3}, {1, 1}, {0, 0}, {1, 1}, 1},
      {{3, 1, 28, 28}, {16, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{2, 2, 3, 4}, {2, 2, 7, 9}, {1, 1}, {3, 4}, {1, 1}, 1},       // the kernel larger than the image
      {{1, 2, 5, 5}, {3, 2, 5, 5}, {1, 1}, {4, 4}, {1, 1}, 1},       // padding as wide as the kernel allows
      {{2, 4, 9, 7}, {6, 2, 3, 2}, {2, 3}, {1, 2}, {2, 1}, 2},       // everything at once
      {{2, 6, 6, 6}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 6},       // one group for each channel
      {{2, 5, 7, 7}, {3, 5, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},       // pointwise
      {{2, 5, 7, 7}, {3, 5, 1, 1}, {2, 2}, {1, 0}, {1, 1}, 1},       // pointwise with a stride
      {{1, 64, 40, 300}, {8, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},  // many tiles
      {{1, 1, 1, 3}, {1, 1, 1, 2}, {1, 5}, {0, 7}, {1, 3}, 1},       // windows that lie in the padding alone
  };
  for (const ConvCase& c : cases) {
    const Tensor x = random_tensor(c.x, 1), w = random_tensor(c.weight, 2),
                 b = random_tensor({c.weight[0]}, 3);
    const Tensor y = conv2d(x, w, b, c.stride, c.padding, c.dilation, c.groups);
    const std::vector<double> expected = naive_conv(x, w, b, c, y.shape());
    CHECK(largest_difference(y, expected) < 1e-11);
    CHECK(largest_difference(conv2d(to(x, DType::f32), to(w, DType::f32), to(b, DType::f32), c.stride,
                                    c.padding, c.dilation, c.groups),
                             expected) < 1e-4);
    if (c.x[0] > 1) {
      const Tensor one = conv2d(select(x, 0, 1), w, b, c.stride, c.padding, c.dilation, c.groups);
      CHECK(largest_difference(one, select(y, 0, 1).to_vector<double>()) < 1e-11);
    }
  }
}

TEST_CASE(
    "the gradients of conv2d are its adjoints: <conv(x, w), g> = <x, dx> = <w, dw>, for many tiles and "
    "blocks") {
  const ConvCase cases[] = {{{9, 3, 28, 28}, {16, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
                            {{1, 64, 40, 150}, {8, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
                            {{40, 4, 12, 12}, {8, 2, 4, 4}, {2, 2}, {1, 1}, {1, 1}, 2},
                            {{30, 8, 14, 14}, {16, 8, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1}};
  const auto inner = [](const Tensor& a, const Tensor& b) { return sum(a * b).item(); };
  for (const ConvCase& c : cases) {
    Tensor x = random_tensor(c.x, 1), w = random_tensor(c.weight, 2);
    x.requires_grad_();
    w.requires_grad_();
    const Tensor y = conv2d(x, w, {}, c.stride, c.padding, c.dilation, c.groups);
    const Tensor g = random_tensor(y.shape(), 3);
    const TensorList gradients = grad({y}, {x, w}, {g});
    const NoGrad off;
    const double expected = inner(y, g), scale = std::sqrt(inner(y, y) * inner(g, g));
    CHECK(std::abs(inner(x, gradients[0]) - expected) < 1e-12 * scale);
    CHECK(std::abs(inner(w, gradients[1]) - expected) < 1e-12 * scale);
  }
}

TEST_CASE("conv2d of nothing: an empty batch has an empty result and a gradient of zeros") {
  Tensor w = ones({2, 3, 3, 3}).requires_grad_();
  const Tensor y = conv2d(zeros({0, 3, 8, 8}), w);
  CHECK(y.shape() == Shape{0, 2, 6, 6});
  backward(sum(y));
  CHECK(w.grad().to_vector<double>() == std::vector<double>(54, 0.0));
}

TEST_CASE("max_pool2d takes the largest of each window, with overlap, padding, dilation and ceil_mode") {
  const NoGrad off;
  struct Case {
    Shape x;
    int64_t kernel, stride, padding, dilation;
    bool ceil;
    Dims out;
  };
  const Case cases[] = {
      {{3, 2, 28, 28}, 2, 2, 0, 1, false, {14, 14}}, {{1, 2, 9, 75}, 2, 2, 0, 1, false, {4, 37}},
      {{2, 1, 9, 75}, 2, 2, 0, 1, true, {5, 38}},    {{2, 3, 8, 8}, 3, 1, 1, 1, false, {8, 8}},
      {{2, 3, 8, 11}, 3, 2, 1, 1, false, {4, 6}},    {{1, 1, 9, 9}, 2, 1, 1, 3, false, {8, 8}},
      {{1, 1, 7, 7}, 3, 3, 1, 1, true, {3, 3}}};
  for (const Case& c : cases) {
    const Tensor x = random_tensor(c.x, 1);
    const std::vector<double> in = x.to_vector<double>();
    std::vector<double> expected;
    for (int64_t plane = 0; plane < c.x[0] * c.x[1]; ++plane)
      for (int64_t p = 0; p < c.out[0]; ++p)
        for (int64_t q = 0; q < c.out[1]; ++q) {
          double largest = -INFINITY;
          for (int64_t i = 0; i < c.kernel; ++i)
            for (int64_t j = 0; j < c.kernel; ++j) {
              const int64_t h = p * c.stride - c.padding + i * c.dilation,
                            w = q * c.stride - c.padding + j * c.dilation;
              if (h >= 0 && h < c.x[2] && w >= 0 && w < c.x[3])
                largest = std::max(largest, in[size_t((plane * c.x[2] + h) * c.x[3] + w)]);
            }
          expected.push_back(largest);
        }
    for (const DType dtype : {DType::f64, DType::f32}) {
      const Tensor y = max_pool2d(to(x, dtype), {c.kernel}, {c.stride}, {c.padding}, {c.dilation}, c.ceil);
      REQUIRE(y.shape() == Shape{c.x[0], c.x[1], c.out[0], c.out[1]});
      CHECK(largest_difference(y, expected) < 1e-7);
    }
  }
}

TEST_CASE("max_pool2d: NaN wins, ties give their gradient to the first, padding never wins and gets none") {
  for (const int64_t width : {4, 36}) {  // windows one by one, and by SIMD
    std::vector<double> values(size_t(2 * width), -5.0);
    values[1] = NAN;  // of the first window
    Tensor x = Tensor::from<double>(values, {1, 2, width}).requires_grad_();
    const Tensor y = max_pool2d(x, {2});
    const std::vector<double> got = y.to_vector<double>();
    CHECK(std::isnan(got[0]));
    for (size_t i = 1; i < got.size(); ++i) CHECK(got[i] == -5);
    backward(sum(y));
    std::vector<double> expected(size_t(2 * width), 0.0);
    expected[1] = 1;
    for (int64_t w = 2; w < width; w += 2) expected[size_t(w)] = 1;
    CHECK(x.grad().to_vector<double>() == expected);
  }
  const std::vector<double> negative(9, -7.0);
  const NoGrad off;
  for (const double value :
       max_pool2d(Tensor::from<double>(negative, {1, 3, 3}), {3}, {1}, {1}).to_vector<double>())
    CHECK(value == -7);
  CHECK(max_pool2d(ones({1, 1, 1}), {2}, {1}, {1}, {2}).item() == -INFINITY);  // a window of padding alone
}

TEST_CASE("the gradient of max_pool2d counts every window that takes an element, where windows overlap") {
  Tensor x = random_tensor({2, 3, 13, 50}, 1).requires_grad_();
  for (const int64_t stride : {1, 2, 3}) {
    const Tensor y = max_pool2d(x, {3}, {stride}, {1});
    const Tensor g = random_tensor(y.shape(), 2);
    const Tensor dx = grad({y}, {x}, {g})[0];
    CHECK(sum(dx).item() == doctest::Approx(sum(g).item()));
    CHECK(sum(dx * x).item() == doctest::Approx(sum(g * y).item()));
  }
}

}  // namespace
}  // namespace lunagrad
