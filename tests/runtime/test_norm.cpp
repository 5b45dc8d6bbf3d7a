// Normalisation beyond the sample table: running statistics, 16-bit dtypes, and data with a large mean.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/ops.h"
#include "runtime/tape/tape.h"

namespace lunagrad {
namespace {

Tensor tensor_of(const std::vector<double>& list, const Shape& shape, DType dtype = DType::f32) {
  const NoGrad off;
  return to(Tensor::from<double>(list, shape), dtype);
}

TEST_CASE("batch_norm updates the running statistics with the mean and the unbiased variance") {
  // Channel 1 is 1, 3, 5, 7 (mean 4, variance 20 / 3), channel 2 is 10 everywhere.
  const std::vector<double> elements{1, 3, 10, 10, 5, 7, 10, 10};
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const Tensor x = tensor_of(elements, {2, 2, 2}, dtype);
    const Tensor mean = zeros({2}), var = ones({2});
    const Tensor y = batch_norm(x, mean, var, {}, {}, true, 0.1, 0);
    CHECK(y.dtype() == dtype);
    CHECK(mean.dtype() == DType::f32);
    CHECK(mean.to_vector<double>()[0] == doctest::Approx(0.4));
    CHECK(mean.to_vector<double>()[1] == doctest::Approx(1));
    CHECK(var.to_vector<double>()[0] == doctest::Approx(0.9 + 0.1 * 20 / 3));
    CHECK(var.to_vector<double>()[1] == doctest::Approx(0.9));
    CHECK(y.to_vector<double>()[0] == doctest::Approx(-3 / std::sqrt(5)).epsilon(0.01));
  }
}

TEST_CASE("f16 statistics of batch_norm are kept in f32") {
  const Tensor mean = tensor_of({1000}, {1}), var = tensor_of({1}, {1});
  const Tensor x = tensor_of({1000.5, 1001, 1000, 1000.5}, {4, 1}, DType::f16);
  batch_norm(x, mean, var, {}, {}, true, 0.001);
  CHECK(mean.item() == doctest::Approx(1000.0005).epsilon(1e-7));  // one ULP of f16 is 0.5 there
}

TEST_CASE("evaluation uses the running statistics and does not change them") {
  const Tensor mean = tensor_of({2, 0}, {2}), var = tensor_of({4, 1}, {2});
  const Tensor y = batch_norm(tensor_of({4, 1, 0, -1}, {2, 2}), mean, var, tensor_of({3, 1}, {2}),
                              tensor_of({1, 0}, {2}), false, 0.1, 0);
  CHECK(y.to_vector<double>() == std::vector<double>{4, 1, -2, -1});
  CHECK(mean.to_vector<double>() == std::vector<double>{2, 0});
}

TEST_CASE("the variance of data with a large mean has no cancellation") {
  const std::vector<double> elements{10000, 10001, 10002, 10003};
  const std::vector<double> wanted{-1.3416407865, -0.4472135955, 0.4472135955, 1.3416407865};
  const auto check = [&](const Tensor& y) {
    const std::vector<double> found = y.to_vector<double>();
    for (size_t i = 0; i < 4; ++i) CHECK(found[i] == doctest::Approx(wanted[i]).epsilon(1e-5));
  };
  check(batch_norm(tensor_of(elements, {4, 1}), {}, {}, {}, {}, true, 0.1, 0));
  check(batch_norm(tensor_of(elements, {2, 1, 2}), {}, {}, {}, {}, true, 0.1, 0));
  check(group_norm(tensor_of(elements, {1, 2, 2}), 1, {}, {}, 0));
  check(group_norm(tensor_of(elements, {1, 4}), 1, {}, {}, 0));
  check(instance_norm(tensor_of(elements, {1, 1, 4}), {}, {}, {}, {}, true, 0.1, 0));
}

TEST_CASE("instance_norm updates the running statistics with the average over the instances") {
  const Tensor mean = zeros({1}), var = ones({1});
  instance_norm(tensor_of({1, 3, 10, 14}, {2, 1, 2}), mean, var, {}, {}, true, 0.5);
  CHECK(mean.item() == doctest::Approx(0.5 * (2 + 12) / 2));
  CHECK(var.item() == doctest::Approx(0.5 + 0.5 * (2 + 8) / 2));
}

TEST_CASE("rms_norm without eps uses the epsilon of its computing type") {
  const Tensor tiny = tensor_of({1e-6, 1e-6}, {2});
  const double eps = std::numeric_limits<float>::epsilon();
  CHECK(rms_norm(tiny, {2}).to_vector<double>()[0] == doctest::Approx(1e-6 / std::sqrt(1e-12 + eps)));
  CHECK(rms_norm(to(tiny, DType::f64), {2}).to_vector<double>()[0] == doctest::Approx(1).epsilon(1e-3));
}

TEST_CASE("normalize does not change a zero vector") {
  const Tensor x = tensor_of({0, 0, 3, 4}, {2, 2}).requires_grad_();
  const Tensor y = normalize(x);
  const std::vector<double> found = y.to_vector<double>();
  CHECK(found[0] == 0);
  CHECK(found[3] == doctest::Approx(0.8));
  CHECK(all(isfinite(grad({sum(y)}, {x})[0])).item() == 1);
}

TEST_CASE("equal numbers are normalised to 0, whatever their sum rounds to") {
  const NoGrad off;
  const double eps = 1e-12;
  for (const int64_t size : {3, 64, 65, 77, 1000, 5001})
    for (const double value : {-1.94871736, 1234.567, 1e-3}) {
      const Tensor x = full({5, size}, value);
      const Tensor results[] = {layer_norm(x, {size}, {}, {}, eps),
                                group_norm(reshape(x, {1, 5, size}), 1, {}, {}, eps),
                                batch_norm(reshape(x, {1, 5, size}), {}, {}, {}, {}, true, 0.1, eps),
                                batch_norm(reshape(x, {size, 5}), {}, {}, {}, {}, true, 0.1, eps)};
      for (const Tensor& y : results) CHECK_MESSAGE(max(abs(y)).item() == 0, value << " in " << size);
    }
}

TEST_CASE("a first element far from the others costs layer_norm no digits") {
  const NoGrad off;
  const int64_t n = 16384;
  std::vector<double> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[size_t(i)] = double(float(std::sin(double(i * i))));
  values[0] = 1000;
  const Tensor exact = Tensor::from<double>(values, {1, n}), x = to(exact, DType::f32);
  const std::vector<double> wanted = layer_norm(exact, {n}, {}, {}, 1e-5).to_vector<double>();
  const std::vector<double> found = layer_norm(x, {n}, {}, {}, 1e-5).to_vector<double>();
  double worst = 0;
  for (size_t i = 1; i < values.size(); ++i) worst = std::max(worst, std::abs(found[i] - wanted[i]));
  CHECK(worst < 2e-7);
}

TEST_CASE("normalisation takes tensors without elements") {
  CHECK(batch_norm(zeros({0, 3}), {}, {}, {}, {}, true).shape() == Shape{0, 3});
  CHECK(group_norm(zeros({0, 4, 2}), 2).shape() == Shape{0, 4, 2});
  CHECK(group_norm(zeros({2, 4, 0}), 2).shape() == Shape{2, 4, 0});
  CHECK(instance_norm(zeros({2, 0, 3})).shape() == Shape{2, 0, 3});
  CHECK(rms_norm(zeros({0, 3}), {3}).shape() == Shape{0, 3});
  CHECK(rope(zeros({0, 2, 4}), zeros({2, 2}), zeros({2, 2})).shape() == Shape{0, 2, 4});
}

}  // namespace
}  // namespace lunagrad
