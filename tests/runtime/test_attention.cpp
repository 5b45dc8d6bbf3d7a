// Attention beyond the sample table: fully masked rows, dropout statistics, memory, layouts, and the
// log-sum-exp of the hidden record. Values and gradients: tests/samples/attention.cpp.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/tape/gradcheck.h"
#include "runtime/tape/tape.h"
#include "tests/support/peak.h"

namespace lunagrad {
namespace {

Tensor normal_numbers(const Shape& shape, DType dtype = DType::f64) {
  const NoGrad off;
  return to(randn(shape, DType::f64, cpu_device()), dtype);
}

double furthest(const Tensor& a, const Tensor& b) {
  return max(abs(to(a, DType::f64) - to(b, DType::f64))).item();
}

// softmax(q k^T scale + mask) v with a matrix of all scores.
Tensor plain_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  const Tensor scores = matmul(q, transpose(k, -2, -1)) / std::sqrt(double(q.size(-1)));
  return matmul(softmax(mask.defined() ? scores + mask : scores, -1), v);
}

Tensor causal_mask(int64_t n) {
  return where(gt(triu(ones({n, n}, DType::f64), 1), Tensor::number(0.0)), Tensor::number(-INFINITY),
               Tensor::number(0.0));
}

TEST_CASE("tiled attention equals attention with all scores, for lengths around tile boundaries") {
  context().generator.seed(1);
  for (const int64_t n : {1, 31, 32, 33, 63, 64, 65, 129, 200})
    for (const int64_t features : {1, 8, 16, 33, 64}) {
      TensorList inputs;
      for (int i = 0; i < 3; ++i) inputs.push_back(normal_numbers({2, n, features}).requires_grad_());
      const Tensor g = normal_numbers({2, n, features});
      AttentionOptions options;
      options.is_causal = true;
      const Tensor fused = scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], options);
      const Tensor plain = plain_attention(inputs[0], inputs[1], inputs[2], to(causal_mask(n), DType::f64));
      CHECK_MESSAGE(furthest(fused, plain) < 1e-12, n << " x " << features);
      const TensorList found = grad({fused}, inputs, {g}), wanted = grad({plain}, inputs, {g});
      for (size_t i = 0; i < 3; ++i)
        CHECK_MESSAGE(furthest(found[i], wanted[i]) < 1e-11, n << " x " << features);
    }
}

TEST_CASE("a query whose keys are all masked gives zeros and no gradient") {
  const Tensor q = normal_numbers({3, 4}).requires_grad_(), k = normal_numbers({5, 4}).requires_grad_(),
               v = normal_numbers({5, 2}).requires_grad_();
  AttentionOptions options;
  options.attn_mask =
      gt(Tensor::from<double>(std::vector<double>{1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}, {3, 5}),
         Tensor::number(0.0));
  const Tensor y = scaled_dot_product_attention(q, k, v, options);
  const std::vector<double> values = y.to_vector<double>();
  CHECK(values[2] == 0);
  CHECK(values[3] == 0);
  CHECK(furthest(select(y, 0, 2), select(v, 0, 2)) < 1e-15);  // its only unmasked key
  const TensorList found = grad({y}, {q, k, v}, {normal_numbers({3, 2})});
  for (const Tensor& g : found) CHECK(all(isfinite(g)).item() == 1);
  CHECK(max(abs(select(found[0], 0, 1))).item() == 0);
  CHECK(max(abs(select(found[1], 0, 3))).item() == 0);

  const Tensor none = scaled_dot_product_attention(q, normal_numbers({0, 4}), normal_numbers({0, 2}));
  CHECK(none.shape() == Shape{3, 2});
  CHECK(max(abs(none)).item() == 0);
}

TEST_CASE("a NaN in a key or value reaches only the queries that attend to it") {
  Tensor k = normal_numbers({70, 4}, DType::f32);
  k.data<float>()[66 * 4] = NAN;
  AttentionOptions options;
  options.is_causal = true;
  const Tensor x = normal_numbers({70, 4}, DType::f32);
  const Tensor bad = isnan(scaled_dot_product_attention(x, k, x, options));
  CHECK(any(narrow(bad, 0, 0, 66)).item() == 0);
  CHECK(all(narrow(bad, 0, 66, 4)).item() == 1);
}

TEST_CASE("the hidden record of attention returns the log-sum-exp, which is differentiable") {
  const Op* const op = find_op("_attention");
  REQUIRE(op);
  for (const bool inner : {false, true}) {
    const Values params{true, 0.5, 2.0, inner};
    const TensorList inputs{
        normal_numbers({2, 5, 3}).requires_grad_(), normal_numbers({2, 5, 3}).requires_grad_(),
        normal_numbers({2, 5, 2}).requires_grad_(), normal_numbers({5, 5}).requires_grad_()};
    const auto f = [&](const TensorList& x) {
      const Operands out = apply(*op, x, params);
      return TensorList(out.begin(), out.end());
    };
    Call call;
    call.op = op;
    call.in = inputs;
    call.params = params;
    const Operands composed = op->compose(call);
    const TensorList fused = f(inputs);
    for (size_t i = 0; i < 2; ++i) CHECK(furthest(fused[i], composed[i]) < 1e-13);
    const GradCheckResult first = gradcheck(f, inputs), second = gradgradcheck(f, inputs);
    CHECK_MESSAGE(first.ok, first.message);
    CHECK_MESSAGE(second.ok, second.message);
  }
}

TEST_CASE("dropout in attention drops the given share, keeps the mean, and differs between calls") {
  context().generator.seed(5);
  const int64_t n = 256;
  const Tensor zero = zeros({4, n, 8}), values = expand(unsqueeze(eye(n, n), 0), {4, n, n});
  AttentionOptions options;
  options.dropout_p = 0.3;
  const Tensor weights = scaled_dot_product_attention(zero, zero, values, options);  // each 1 / n, or 0
  CHECK(mean(to(eq(weights, Tensor::number(0.0)), DType::f32)).item() == doctest::Approx(0.3).epsilon(0.01));
  CHECK(mean(weights).item() == doctest::Approx(1.0 / double(n)).epsilon(0.01));
  CHECK(furthest(weights, scaled_dot_product_attention(zero, zero, values, options)) > 0);
  options.dropout_p = 1;
  CHECK(max(abs(scaled_dot_product_attention(zero, zero, values, options))).item() == 0);
}

TEST_CASE("heads interleaved within rows give the same numbers and keep their layout") {
  const Tensor q = normal_numbers({2, 9, 3, 4}, DType::f32).requires_grad_();
  const auto heads = [](const Tensor& x) { return transpose(x, 1, 2); };
  const Tensor inner = scaled_dot_product_attention(heads(q), heads(q), heads(q));
  const Tensor dense = contiguous(heads(q)), outer = scaled_dot_product_attention(dense, dense, dense);
  CHECK(transpose(inner, 1, 2).is_contiguous());
  CHECK(furthest(inner, outer) == 0);
  const Tensor g = normal_numbers({2, 3, 9, 4}, DType::f32);
  CHECK(furthest(grad({inner}, {q}, {g})[0], grad({outer}, {q}, {g})[0]) < 1e-6);
}

TEST_CASE("attention stores no matrix of scores") {
  const int64_t n = 2048;
  const Tensor x = normal_numbers({2, n, 16}, DType::f32).requires_grad_();
  const tests::Peak peak;
  AttentionOptions options;
  options.is_causal = true;
  const Tensor y = scaled_dot_product_attention(x, x, x, options);
  backward(y, ones_like(y));
  CHECK(peak.mebibytes() < 12);  // a matrix of scores has 16 MiB
}

TEST_CASE("attention gives the same gradients for any number of threads") {
  context().generator.seed(9);
  const Tensor x = normal_numbers({3, 300, 20}, DType::f32).requires_grad_();
  const int threads = thread_count();
  std::vector<Tensor> results;
  for (const int count : {1, 2, 5}) {
    set_thread_count(count);
    const Tensor y = scaled_dot_product_attention(x, x, x);
    results.push_back(grad({y}, {x}, {ones_like(y)})[0]);
  }
  set_thread_count(threads);
  CHECK(furthest(results[0], results[1]) == 0);
  CHECK(furthest(results[0], results[2]) == 0);
}

}  // namespace
}  // namespace lunagrad
