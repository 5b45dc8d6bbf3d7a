// Reductions and softmax against naive loops in double precision: sizes that cross every boundary of the
// kernels, layouts, dtypes, NaN and infinities.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/tape/gradcheck.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/values.h"

using namespace lunagrad;

namespace {

using lunagrad::tests::kInf, lunagrad::tests::kNaN;

Tensor f32_tensor(const std::vector<float>& values, const Shape& shape) {
  return Tensor::from<float>(values, shape);
}
Tensor f64(const std::vector<double>& values, const Shape& shape) {
  return Tensor::from<double>(values, shape);
}

// More rows and columns than one block of the kernels.
Tensor uniform_columns() { return rand({37, 1040}, DType::f64) + 0.5; }

// Calls f(elements of one result, in order) for each result and returns the results in order.
std::vector<double> naive(const Tensor& x, uint32_t mask,
                          const std::function<double(const std::vector<double>&)>& f) {
  const std::vector<double> values = x.to_vector<double>();
  const Strides strides = contiguous_strides(x.shape());
  std::vector<std::vector<double>> groups;
  std::vector<int64_t> kept;
  int64_t outputs = 1;
  for (int i = 0; i < x.ndim(); ++i)
    if (!(mask >> i & 1)) outputs *= x.size(i);
  groups.resize(size_t(outputs));
  for (size_t e = 0; e < values.size(); ++e) {
    int64_t output = 0;
    for (int i = 0; i < x.ndim(); ++i)
      if (!(mask >> i & 1)) output = output * x.size(i) + int64_t(e) / strides[i] % x.size(i);
    groups[size_t(output)].push_back(values[e]);
  }
  std::vector<double> results;
  for (const auto& group : groups) results.push_back(f(group));
  return results;
}

double sum_of(const std::vector<double>& v) {
  double total = 0;
  for (const double x : v) total += x;
  return total;
}
double max_of(const std::vector<double>& v) {
  double best = -kInf;
  for (const double x : v)
    if (std::isnan(x) || x > best) {
      best = x;
      if (std::isnan(x)) break;
    }
  return best;
}
double var_of(const std::vector<double>& v) {
  const double mean = sum_of(v) / double(v.size());
  double total = 0;
  for (const double x : v) total += (x - mean) * (x - mean);
  return total / double(v.size() - 1);
}
double argmax_of(const std::vector<double>& v) {
  size_t best = 0;
  for (size_t i = 1; i < v.size(); ++i)
    if (!std::isnan(v[best]) && (std::isnan(v[i]) || v[i] > v[best])) best = i;
  return double(best);
}

void check_values(const Tensor& got, const std::vector<double>& expected, double tolerance,
                  const std::string& what) {
  const std::vector<double> values = got.to_vector<double>();
  REQUIRE_MESSAGE(values.size() == expected.size(), what);
  for (size_t i = 0; i < values.size(); ++i) {
    const bool same = std::isnan(expected[i])
                          ? std::isnan(values[i])
                          : values[i] == expected[i] || std::abs(values[i] - expected[i]) <=
                                                            tolerance * std::max(1.0, std::abs(expected[i]));
    REQUIRE_MESSAGE(same, what << " result " << i << " is " << values[i] << ", expected " << expected[i]);
  }
}

Dims dims_of(uint32_t mask) {
  Dims dims;
  for (int i = 0; i < kMaxDims; ++i)
    if (mask >> i & 1) dims.push_back(i);
  return dims;
}

}  // namespace

TEST_CASE("reductions agree with naive loops for every set of dims and every order of strides") {
  for (const Shape& shape : {Shape{3, 5, 7}, Shape{2, 33, 40}, Shape{1, 1030, 3}, Shape{70, 1, 19}}) {
    const Tensor base = randn(shape, DType::f64);
    for (const Dims& order : {Dims{0, 1, 2}, Dims{2, 1, 0}, Dims{1, 0, 2}, Dims{0, 2, 1}}) {
      const Tensor x = permute(base, order);
      for (const Tensor& y : {x, slice(x, 2, 0, x.size(2), 2), to(x, DType::f32)})
        for (uint32_t mask = 1; mask < 8; ++mask) {
          const Dims dims = dims_of(mask);
          const std::string what = text("shape ", y.shape(), " strides ", y.strides(), " dims ", dims);
          const double tolerance = y.dtype() == DType::f64 ? 1e-12 : 1e-6;
          check_values(sum(y, dims), naive(y, mask, sum_of), tolerance, "sum " + what);
          check_values(amax(y, dims), naive(y, mask, max_of), 0, "amax " + what);
          check_values(var(y, dims),
                       naive(y, mask, [](const auto& v) { return v.size() > 1 ? var_of(v) : kNaN; }),
                       tolerance, "var " + what);
        }
      for (int dim = 0; dim < 3; ++dim) {
        check_values(argmax(x, dim), naive(x, 1u << dim, argmax_of), 0,
                     text("argmax ", x.shape(), " dim ", dim));
        const auto [values, indices] = max(x, dim, true);
        check_values(values, naive(x, 1u << dim, max_of), 0, "max");
        check_values(indices, naive(x, 1u << dim, argmax_of), 0, "max indices");
      }
    }
  }
}

TEST_CASE("integers and bool sum in i64, and their extremes keep the dtype") {
  const Tensor x = randint(-1000000000, 1000000000, {300, 5}, DType::i32);
  CHECK(sum(x).dtype() == DType::i64);
  check_values(sum(x), naive(x, 3, sum_of), 0, "sum i32");
  check_values(sum(x, {0}), naive(x, 1, sum_of), 0, "sum i32 over rows");
  CHECK(amax(x).dtype() == DType::i32);
  check_values(amax(x, {1}), naive(x, 2, max_of), 0, "amax i32");
  check_values(argmax(x), naive(x, 3, argmax_of), 0, "argmax i32");
  const Tensor big = full({3}, int64_t(1) << 60, DType::i64);
  CHECK(sum(big).item_integer() == 3 * (int64_t(1) << 60));
  // They wrap around.
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  const Tensor ends = Tensor::from<int64_t>(std::vector<int64_t>{kMost, 2}, {2, 1});
  CHECK(sum(ends).item_integer() == kLeast + 1);
  CHECK(sum(ends, {0}).item_integer() == kLeast + 1);
  CHECK(prod(ends).item_integer() == -2);
  const Tensor truth = gt(x, Tensor::number(int64_t(0)));
  check_values(sum(truth, {0}), naive(truth, 1, sum_of), 0, "sum bool");
  CHECK(any(truth).item() == 1);
  CHECK(all(truth).item() == 0);
  CHECK(all(zeros({0}, DType::boolean)).item() == 1);
  CHECK(any(f64({0, kNaN}, {2})).item() == 1);
  CHECK(prod(Tensor::from<int64_t>(std::vector<int64_t>{3, -5, 7}, {3})).item_integer() == -105);
}

TEST_CASE("a sum of 2^24 + 16 ones is exact in f32") {
  const int64_t n = (1 << 24) + 16;
  CHECK(sum(ones({n})).item() == double(n));
  CHECK(sum(ones({n / 16, 16}), {0}).to_vector<double>() == std::vector<double>(16, double(n / 16)));
  CHECK(sum(expand(ones({1}), {n})).item() == double(n));
  CHECK(mean(ones({n})).item() == 1);
}

TEST_CASE("a reduction does not depend on the number of threads") {
  const int threads = thread_count();
  const Tensor x = randn({1 << 20}), m = randn({3000, 300});
  std::vector<double> first;
  for (const int count : {1, 2, 3}) {
    set_thread_count(count);
    std::vector<double> results{sum(x).item(), var(x).item(), norm(x).item()};
    for (const Tensor& y : {sum(m, {0}), sum(m, {1}), var(m, {0})})
      for (const double value : y.to_vector<double>()) results.push_back(value);
    if (first.empty()) first = results;
    CHECK(first == results);
  }
  set_thread_count(threads);
}

TEST_CASE("NaN propagates through max, min, amax, argmax and softmax; Inf does not become NaN") {
  for (const int64_t n : {5, 64, 1000}) {
    for (const int64_t at : {int64_t(0), n / 2, n - 1}) {
      std::vector<double> values(size_t(n), 1);
      values[size_t(at)] = kNaN;
      for (const Tensor& x : {f64(values, {n}), to(f64(values, {n}), DType::f32)}) {
        CHECK(std::isnan(max(x).item()));
        CHECK(std::isnan(min(x).item()));
        CHECK(std::isnan(sum(x).item()));
        CHECK(argmax(x).item_integer() == at);
        CHECK(argmin(x).item_integer() == at);
        CHECK(max(x, 0).second.item_integer() == at);
        const Tensor column = reshape(expand(reshape(x, {n, 1}), {n, 3}), {n, 3});
        CHECK(argmax(column, 0).to_vector<int64_t>() == std::vector<int64_t>(3, at));
        CHECK(std::isnan(amax(column, {0}).to_vector<double>()[2]));
        for (const double y : softmax(x, 0).to_vector<double>()) REQUIRE(std::isnan(y));
        for (const double y : log_softmax(x, 0).to_vector<double>()) REQUIRE(std::isnan(y));
      }
      values[size_t(at)] = -kInf;
      if (n > 5) values[size_t((at + 1) % n)] = kInf;
      const Tensor x = to(f64(values, {n}), DType::f32);
      CHECK(max(x).item() == (n > 5 ? kInf : 1));
      CHECK(min(x).item() == -kInf);
    }
  }
  CHECK(argmax(f64({1, 3, 3, kNaN, 2, kNaN}, {6})).item_integer() == 3);
  CHECK(argmax(f64({1, 3, 3, 2}, {4})).item_integer() == 1);
}

TEST_CASE("reductions of no elements: sum 0, prod 1, mean NaN, max an error") {
  const Tensor none = zeros({0, 3});
  CHECK(sum(none).item() == 0);
  CHECK(sum(none, {0}).to_vector<double>() == std::vector<double>(3, 0));
  CHECK(sum(none, {1}).shape() == Shape{0});
  CHECK(prod(none).item() == 1);
  CHECK(std::isnan(mean(none).item()));
  CHECK(std::isnan(var(zeros({1})).item()));
  CHECK_THROWS_WITH(max(none), "max: cannot reduce an empty tensor without an identity (shape [0, 3])");
  CHECK_THROWS_WITH(max(none, 0), "max: cannot reduce an empty tensor without an identity (shape [0, 3])");
  CHECK(max(none, 1).first.shape() == Shape{0});
  CHECK(sum(full({}, 3.0)).item() == 3);
  CHECK(max(full({}, 3.0), 0).second.item_integer() == 0);
}

TEST_CASE("16-bit floats are summed in a wider type") {
  for (const DType half : {DType::f16, DType::bf16}) {
    const Tensor x = full({4096}, 1.0, half);
    CHECK(sum(x).dtype() == half);
    CHECK(sum(x).item() == 4096);
    CHECK(mean(x).item() == 1);
    CHECK(amax(x).dtype() == half);
    CHECK(argmax(x).dtype() == DType::i64);
  }
}

TEST_CASE("ties share the gradient of amax and of the full max; along a dim it goes to the index") {
  Tensor x = f64({1, 4, 4, 2, 4, 0}, {2, 3});
  x.requires_grad_();
  CHECK(grad({max(x)}, {x})[0].to_vector<double>() ==
        std::vector<double>{0, 1.0 / 3, 1.0 / 3, 0, 1.0 / 3, 0});
  CHECK(grad({sum(amax(x, {1}))}, {x})[0].to_vector<double>() == std::vector<double>{0, 0.5, 0.5, 0, 1, 0});
  CHECK(grad({sum(max(x, 1).first)}, {x})[0].to_vector<double>() == std::vector<double>{0, 1, 0, 0, 1, 0});
  CHECK(grad({sum(min(x, 0).first)}, {x})[0].to_vector<double>() == std::vector<double>{1, 1, 0, 0, 0, 1});
}

TEST_CASE("first and second derivatives of prod are right where factors are zero") {
  for (const std::vector<double>& values : {std::vector<double>{2, 0, 3}, {0, 0, 3}, {1, 2, 3}}) {
    Tensor x = f64(values, {3});
    x.requires_grad_();
    const auto f = [](const TensorList& in) { return TensorList{prod(in[0])}; };
    CHECK(gradcheck(f, {x}).message == "");
    CHECK(gradgradcheck(f, {x}).message == "");
  }
  Tensor x = f64({2, 0, 3}, {3});
  x.requires_grad_();
  CHECK(grad({prod(x)}, {x})[0].to_vector<double>() == std::vector<double>{0, 6, 0});
}

TEST_CASE("the gradient of a long product in f32 equals the f64 gradient, with any number of threads") {
  const int threads = thread_count();
  const int64_t n = 70000;
  std::vector<double> near_one(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) near_one[size_t(i)] = double(float(1 + 1e-3 * std::sin(double(i))));
  for (const std::vector<int64_t>& zeros_at : {std::vector<int64_t>{}, {1500}, {1500, 1501}, {0, n - 1}}) {
    std::vector<double> values = near_one;
    for (const int64_t at : zeros_at) values[size_t(at)] = 0;
    Tensor exact = f64(values, {n});
    exact.requires_grad_();
    const std::vector<double> wanted = grad({prod(exact)}, {exact})[0].to_vector<double>();
    Tensor x = to(exact.detach(), DType::f32);
    x.requires_grad_();
    std::vector<double> first;
    for (const int count : {1, 2, 3}) {
      set_thread_count(count);
      const std::vector<double> slopes = grad({prod(x)}, {x})[0].to_vector<double>();
      if (first.empty()) first = slopes;
      CHECK(first == slopes);
    }
    double worst = 0;
    for (int64_t i = 0; i < n; ++i)
      worst = std::max(
          worst, std::abs(first[size_t(i)] - wanted[size_t(i)]) / (std::abs(wanted[size_t(i)]) + 1e-30));
    CHECK(worst < 1e-7);
  }
  set_thread_count(threads);
}

TEST_CASE("the gradient of a product is right where only the whole product is out of range") {
  for (const double factor : {1e-200, 1e200}) {
    std::vector<double> values(3000, 1.0);
    values[0] = values[2000] = factor;
    Tensor x = f64(values, {3000});
    x.requires_grad_();
    const std::vector<double> slopes = grad({prod(x)}, {x})[0].to_vector<double>();
    CHECK(slopes[0] == factor);
    CHECK(slopes[2000] == factor);
  }
}

TEST_CASE("nansum adds what is not NaN, along any dim") {
  const Shape shape{37, 301, 11};
  std::vector<double> values(size_t(numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 5 == 3 ? NAN : double(i * 61 % 97);
  const Tensor x = f64(values, shape), without = where(isnan(x), Tensor::number(0.0), x);
  for (const DType type : {DType::f32, DType::f64})
    for (const Dims& dims : {Dims{0}, Dims{1}, Dims{2}, Dims{0, 2}, Dims{0, 1, 2}})
      CHECK(apply1(*find_op("nansum"), {to(x, type)}, {Value(dims), false, Value()}).to_vector<double>() ==
            sum(without, dims).to_vector<double>());
}

TEST_CASE("std and norm have gradient 0 where they are 0") {
  Tensor x = full({4}, 2.0, DType::f64);
  x.requires_grad_();
  CHECK(grad({stddev(x)}, {x})[0].to_vector<double>() == std::vector<double>(4, 0));
  Tensor zero = zeros({4}, DType::f64);
  zero.requires_grad_();
  CHECK(grad({norm(zero)}, {zero})[0].to_vector<double>() == std::vector<double>(4, 0));
  for (const Tensor& each : {x, zero}) {
    const Tensor count = norm(each, 0);
    REQUIRE(count.requires_grad());
    CHECK(grad({count}, {each})[0].to_vector<double>() == std::vector<double>(4, 0));
  }
}

TEST_CASE("norm takes p = 0, infinite and fractional p") {
  const Tensor x = f64({3, -4, 0, 0}, {4});
  CHECK(norm(x).item() == 5);
  CHECK(norm(x, 1).item() == 7);
  CHECK(norm(x, 0).item() == 2);
  CHECK(norm(f64({NAN, 0, -kInf}, {3}), 0).item() == 2);
  CHECK(norm(x, kInf).item() == 4);
  CHECK(norm(x, -kInf).item() == 0);
  CHECK(norm(x, 0.5).item() == doctest::Approx(std::pow(std::sqrt(3.0) + 2, 2)).epsilon(1e-12));
}

TEST_CASE("logsumexp does not overflow") {
  CHECK(logsumexp(f64({1000, 1000}, {2}), {0}).item() ==
        doctest::Approx(1000 + std::log(2.0)).epsilon(1e-14));
  CHECK(logsumexp(f64({-kInf, -kInf}, {2}), {0}).item() == -kInf);
  CHECK(logsumexp(f64({kInf, 1}, {2}), {0}).item() == kInf);
}

TEST_CASE("softmax and log_softmax agree with naive loops along any dim and layout") {
  for (const Shape& shape : {Shape{3, 5, 7}, Shape{2, 17, 33}, Shape{4, 1, 1000}, Shape{1, 5000, 2}}) {
    const Tensor base = randn(shape, DType::f64) * 5.0;
    for (const Tensor& x : {base, transpose(base, 0, 2), slice(base, 2, 0, shape[2], 2)})
      for (int dim = 0; dim < 3; ++dim) {
        const Tensor shifted = x - amax(x, {dim}, true).detach();
        const Tensor expected = exp(shifted) / sum(exp(shifted), {dim}, true);
        const std::string what = text("shape ", x.shape(), " dim ", dim);
        check_values(softmax(x, dim), expected.to_vector<double>(), 1e-13, what);
        check_values(softmax(to(x, DType::f32), dim), expected.to_vector<double>(), 1e-6, what);
        check_values(log_softmax(x, dim), log(expected).to_vector<double>(), 1e-12, what);
        check_values(log_softmax(to(x, DType::f32), dim), log(expected).to_vector<double>(), 2e-6, what);
      }
  }
}

TEST_CASE("softmax of large logits, of rows with only -inf, and of a masked row") {
  const auto row = [](std::vector<float> values) { return f32_tensor(values, {int64_t(values.size())}); };
  check_values(softmax(row({1e38f, 1e38f}), 0), {0.5, 0.5}, 1e-7, "large");
  check_values(softmax(row({-INFINITY, 0, 0}), 0), {0, 0.5, 0.5}, 1e-7, "one masked");
  check_values(softmax(row({-INFINITY, -INFINITY}), 0), {kNaN, kNaN}, 0, "all masked");
  check_values(softmax(row({INFINITY, 0}), 0), {kNaN, kNaN}, 0, "infinite");
  check_values(log_softmax(row({-1e4f, 0}), 0), {-1e4, 0}, 1e-7, "log of what underflows");
  // The same along columns.
  for (const auto& values : {std::vector<float>{1e38f, 1e38f, 0},
                             {-INFINITY, 0, 0},
                             {-INFINITY, -INFINITY, -INFINITY},
                             {INFINITY, 0, 1},
                             {0, NAN, 1}}) {
    const Tensor columns = contiguous(expand(reshape(row(values), {3, 1}), {3, 21}));
    for (int c : {0, 20}) {
      check_values(select(softmax(columns, 0), 1, c), softmax(row(values), 0).to_vector<double>(), 1e-7,
                   "column");
      check_values(select(log_softmax(columns, 0), 1, c), log_softmax(row(values), 0).to_vector<double>(),
                   1e-7, "log of a column");
    }
  }
  check_values(softmax(full({}, 3.0), 0), {1}, 0, "scalar");
  CHECK(softmax(zeros({0, 4}), 0).shape() == Shape{0, 4});
  CHECK(log_softmax(zeros({4, 0}), 0).shape() == Shape{4, 0});
}

TEST_CASE("kernels along columns give the numbers of kernels along rows, with gradients") {
  const Tensor base = uniform_columns();
  const auto check = [&](const char* what, double accuracy, auto&& f) {
    Tensor rows = transpose(base, 0, 1).detach(), columns = base.detach();
    rows = contiguous(rows);
    rows.requires_grad_(true);
    columns.requires_grad_(true);
    const Tensor down = f(columns, 0), across = f(rows, 1), weights = randn(down.shape(), DType::f64);
    check_values(transpose(down, 0, 1), across.to_vector<double>(), accuracy, what);
    backward(sum(down * weights));
    backward(sum(across * transpose(weights, 0, 1)));
    check_values(transpose(columns.grad(), 0, 1), rows.grad().to_vector<double>(), accuracy, what);
  };
  check("softmax", 1e-14, [](const Tensor& x, int dim) { return softmax(x, dim); });
  check("log_softmax", 1e-12, [](const Tensor& x, int dim) { return log_softmax(x, dim); });
  check("cumsum", 1e-12, [](const Tensor& x, int dim) { return cumsum(x, dim); });
  check("exclusive cumsum", 1e-12, [](const Tensor& x, int dim) { return cumsum(x, dim, true); });
  check("cumprod", 1e-10, [](const Tensor& x, int dim) { return cumprod(x, dim); });
}

TEST_CASE("sort, topk and median put NaN last, are stable, and work along any dim") {
  const Tensor x = f64({3, 1, kNaN, 1, 2, -kInf}, {6});
  const auto [values, indices] = sort(x, 0);
  check_values(values, {-kInf, 1, 1, 2, 3, kNaN}, 0, "sort");
  CHECK(indices.to_vector<int64_t>() == std::vector<int64_t>{5, 1, 3, 4, 0, 2});
  CHECK(argsort(x, 0, true).to_vector<int64_t>() == std::vector<int64_t>{2, 0, 4, 1, 3, 5});
  CHECK(topk(x, 3, 0).second.to_vector<int64_t>() == std::vector<int64_t>{2, 0, 4});
  CHECK(topk(x, 2, 0, false).second.to_vector<int64_t>() == std::vector<int64_t>{5, 1});
  CHECK(std::isnan(median(x).item()));
  CHECK(median(f64({4, 1, 3, 2}, {4})).item() == 2);
  CHECK(sort(full({}, 2.0)).first.item() == 2);
  CHECK(topk(x, 0, 0).first.shape() == Shape{0});

  const Tensor cube = randn({5, 40, 3}, DType::f64);
  for (const Tensor& y : {cube, permute(cube, {2, 0, 1})})
    for (int dim = 0; dim < 3; ++dim) {
      const auto [ordered, places] = sort(y, dim);
      CHECK(gather(y, dim, places).to_vector<double>() == ordered.to_vector<double>());
      const Tensor rises =
          ge(narrow(ordered, dim, 1, y.size(dim) - 1), narrow(ordered, dim, 0, y.size(dim) - 1));
      CHECK(all(rises).item() == 1);
      CHECK(sum(places).item_integer() == y.numel() * (y.size(dim) - 1) / 2);
    }
  const Tensor truth = Tensor::from<uint8_t>(std::vector<uint8_t>{1, 0, 1}, {3});
  CHECK(sort(to(truth, DType::boolean)).first.to_vector<double>() == std::vector<double>{0, 1, 1});
}

TEST_CASE("cumsum works along any dim, sums integers in i64 and long rows in f64") {
  const Tensor x = randn({3, 50, 4}, DType::f64);
  const std::vector<double> sums = cumsum(x, 1).to_vector<double>(), values = x.to_vector<double>();
  for (size_t outer = 0; outer < 3; ++outer)
    for (size_t inner = 0; inner < 4; ++inner) {
      double total = 0;
      for (size_t i = 0; i < 50; ++i) {
        total += values[(outer * 50 + i) * 4 + inner];
        CHECK(std::abs(sums[(outer * 50 + i) * 4 + inner] - total) <
              1e-13);  // the order of additions differs
      }
    }
  const int64_t n = (1 << 24) + 16;
  CHECK(select(cumsum(ones({n}), 0), 0, n - 1).item() == double(n));
  CHECK(cumsum(full({3}, 200.0, DType::u8), 0).to_vector<int64_t>() == std::vector<int64_t>{200, 400, 600});
  CHECK(cumsum(ones({3}), 0, true).to_vector<double>() == std::vector<double>{0, 1, 2});
}
