// The elementwise rows beyond the generic op tests: dtypes, special values, gradients at kinks, every length
// and SIMD target, large and strided operands, casts.
#include <doctest/doctest.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "runtime/elementwise/elementwise.h"
#include "runtime/ops.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/values.h"
#include "tests/support/message_of.h"

namespace lunagrad::tests {
namespace {

Tensor f32(const List& values) {
  return to(Tensor::from<double>(values, {int64_t(values.size())}), DType::f32);
}
Tensor i64(const std::vector<int64_t>& values) {
  return Tensor::from<int64_t>(values, {int64_t(values.size())});
}
Tensor of_type(const List& values, DType type) {
  return to(Tensor::from<double>(values, {int64_t(values.size())}), type);
}

// Equal, where NaN equals NaN.
bool alike(const List& a, const List& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))) return false;
  return true;
}

// The gradients of f at the given operands, for an output gradient of ones.
std::vector<List> gradients(const std::function<Tensor(const TensorList&)>& f, const std::vector<List>& at,
                            bool create_graph = false) {
  TensorList x;
  for (const List& operand : at)
    x.push_back(Tensor::from<double>(operand, {int64_t(operand.size())}).requires_grad_());
  const Tensor y = f(x);
  GradOptions options;
  options.create_graph = create_graph;
  std::vector<List> results;
  for (const Tensor& g : grad({y}, x, {ones_like(y)}, options)) results.push_back(values(g));
  return results;
}

TEST_CASE("NaN in clamps, extremes and comparisons behaves as in PyTorch") {
  const Tensor x = f32({kNaN, -1, 7}), z = f32({0, kNaN, 2});
  CHECK(alike(values(relu(x)), {kNaN, 0, 7}));
  CHECK(alike(values(clamp(x, 0.0, 1.0)), {kNaN, 0, 1}));
  CHECK(alike(values(hardtanh(x)), {kNaN, -1, 1}));
  CHECK(alike(values(relu6(x)), {kNaN, 0, 6}));
  CHECK(alike(values(maximum(x, z)), {kNaN, kNaN, 7}));
  CHECK(alike(values(minimum(x, z)), {kNaN, kNaN, 2}));
  CHECK(alike(values(sign(x)), {kNaN, -1, 1}));
  CHECK(values(eq(x, x)) == List{0, 1, 1});
  CHECK(values(ne(x, x)) == List{1, 0, 0});
  CHECK(values(lt(x, z)) == List{0, 0, 0});
  CHECK(alike(values(threshold(x, 0, -5)), {kNaN, -5, 7}));
}

TEST_CASE("isnan, isinf, isfinite and nan_to_num tell Inf from NaN") {
  const Tensor x = f32({kNaN, kInf, -kInf, 1});
  CHECK(values(isnan(x)) == List{1, 0, 0, 0});
  CHECK(values(isinf(x)) == List{0, 1, 1, 0});
  CHECK(values(isfinite(x)) == List{0, 0, 0, 1});
  CHECK(isnan(x).dtype() == DType::boolean);
  const double largest = std::numeric_limits<float>::max();
  CHECK(values(nan_to_num(x)) == List{0, largest, -largest, 1});
  CHECK(values(nan_to_num(x, 9, 8, 7)) == List{9, 8, 7, 1});
  CHECK(values(nan_to_num(to(x, DType::f16))) == List{0, 65504, -65504, 1});
  CHECK(values(logaddexp(f32({kInf, -kInf, 1000}), f32({kInf, -kInf, 0}))) == List{kInf, -kInf, 1000});
}

TEST_CASE("gelu keeps its relative precision for large negative x and is exact for large positive x") {
  const List points = {-12, -8, -5.5, -4, -3, -2, -1, -1e-3, 0, 1e-3, 1, 3, 6, 40};
  const List got = values(gelu(f32(points)));
  for (size_t i = 0; i < points.size(); ++i) {
    const double expected = points[i] * 0.5 * std::erfc(-points[i] / std::sqrt(2.0));
    CHECK(std::abs(got[i] - expected) <= 1e-5 * std::abs(expected));
  }
  CHECK(alike(values(gelu(f32({kNaN, kInf}))), {kNaN, kInf}));
}

TEST_CASE("gradients at kinks are PyTorch's") {
  using V = std::vector<List>;
  CHECK(gradients([](const TensorList& x) { return abs(x[0]); }, {{-2, 0, 2}}) == V{{-1, 0, 1}});
  CHECK(gradients([](const TensorList& x) { return relu(x[0]); }, {{-1, 0, 1}}) == V{{0, 0, 1}});
  CHECK(gradients([](const TensorList& x) { return clamp(x[0], -1.0, 1.0); }, {{-2, -1, 0, 1, 2}}) ==
        V{{0, 1, 1, 1, 0}});
  CHECK(gradients([](const TensorList& x) { return clamp(x[0], std::nullopt, 1.0); }, {{-9, 1, 2}}) ==
        V{{1, 1, 0}});
  CHECK(gradients([](const TensorList& x) { return hardtanh(x[0]); }, {{-1, 0, 1}}) == V{{0, 1, 0}});
  CHECK(gradients([](const TensorList& x) { return maximum(x[0], x[1]); }, {{1, 2, 3}, {3, 2, 1}}) ==
        V{{0, 0.5, 1}, {1, 0.5, 0}});
  CHECK(gradients([](const TensorList& x) { return minimum(x[0], x[1]); }, {{1, 2, 3}, {3, 2, 1}}) ==
        V{{1, 0.5, 0}, {0, 0.5, 1}});
  CHECK(gradients([](const TensorList& x) { return floor(x[0]); }, {{1.5}}) == V{{0}});
}

TEST_CASE("gradients of pow are finite where the result does not depend on the operand") {
  for (const bool create_graph : {false, true}) {
    const auto g = gradients([](const TensorList& x) { return pow(x[0], x[1]); },
                             {{0, 0, 0, 2, -2}, {0, 2, 3, 3, 2}}, create_graph);
    CHECK(g[0] == List{0, 0, 0, 12, -4});
    CHECK(alike(g[1], {0, 0, 0, 8 * std::log(2.0), kNaN}));
  }
  const auto half = gradients([](const TensorList& x) { return pow(x[0], Tensor::number(0.5)); }, {{4, 0}});
  CHECK(half[0] == List{0.25, kInf});
}

TEST_CASE("a NaN in the branch that where does not select reaches no gradient") {
  for (const bool create_graph : {false, true}) {
    const auto g = gradients(
        [](const TensorList& x) {
          const Tensor positive = gt(x[0], Tensor::number(0.0));
          return where(positive, x[1] * x[0], div(x[1], Tensor::number(0.0)) * 0.0);
        },
        {{1, 2}, {3, 4}}, create_graph);
    CHECK(g[0] == List{3, 4});
  }
  const auto g =
      gradients([](const TensorList& x) { return where(gt(x[0], Tensor::number(0.0)), x[0], x[1]); },
                {{-1, 2}, {kNaN, kNaN}});
  CHECK(g == std::vector<List>{{0, 1}, {1, 0}});
}

TEST_CASE("type promotion of operands is PyTorch's") {
  const auto type = [](const Tensor& a, const Tensor& b) { return add(a, b).dtype(); };
  const Tensor one = Tensor::number(int64_t(1)), half = Tensor::number(0.5);
  const auto make = [](DType t) { return ones({2}, t); };
  const auto scalar = [](DType t) { return ones({}, t); };
  CHECK(type(make(DType::i32), one) == DType::i32);
  CHECK(type(make(DType::u8), one) == DType::u8);
  CHECK(type(make(DType::i64), half) == DType::f32);
  CHECK(type(make(DType::boolean), one) == DType::i64);
  CHECK(type(make(DType::boolean), half) == DType::f32);
  for (const DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) CHECK(type(make(t), half) == t);
  CHECK(type(make(DType::f16), make(DType::bf16)) == DType::f32);
  CHECK(type(make(DType::f16), make(DType::i64)) == DType::f16);
  CHECK(type(make(DType::f32), scalar(DType::f64)) == DType::f32);
  CHECK(type(make(DType::i32), scalar(DType::i64)) == DType::i32);
  CHECK(type(make(DType::i32), scalar(DType::f64)) == DType::f64);
  CHECK(type(make(DType::boolean), scalar(DType::u8)) == DType::u8);
  CHECK(type(make(DType::boolean), make(DType::boolean)) == DType::boolean);
  CHECK(exp(make(DType::i64)).dtype() == DType::f32);
  CHECK(div(i64({7}), i64({2})).dtype() == DType::f32);
  CHECK(values(div(i64({7}), i64({2}))) == List{3.5});
  CHECK(where(gt(f32({1, -1}), Tensor::number(0.0)), make(DType::f16), half).dtype() == DType::f16);
  CHECK(clamp(i64({-3, 5}), 0.0, 2.0).dtype() == DType::i64);
  CHECK(values(clamp(i64({-3, 5}), 0.5, std::nullopt)) == List{0.5, 5});
  CHECK(values(add(make(DType::boolean), make(DType::boolean))) == List{1, 1});
}

TEST_CASE("integers are computed exactly and wrap around") {
  const int64_t big = (int64_t(1) << 53) + 1, least = std::numeric_limits<int64_t>::min();
  CHECK(add(i64({big}), i64({1})).to_vector<int64_t>()[0] == big + 1);
  CHECK(values(eq(i64({big}), i64({big - 1}))) == List{0});
  CHECK(floor_divide(i64({least}), i64({-1})).to_vector<int64_t>()[0] == least);
  CHECK(values(remainder(i64({least}), i64({-1}))) == List{0});
  CHECK(values(floor_divide(i64({7, -7, 7, -7}), i64({2, 2, -2, -2}))) == List{3, -4, -4, 3});
  CHECK(values(remainder(i64({7, -7, 7, -7}), i64({2, 2, -2, -2}))) == List{1, 1, -1, -1});
  CHECK(values(fmod(i64({7, -7, 7, -7}), i64({2, 2, -2, -2}))) == List{1, -1, 1, -1});
  CHECK(values(pow(i64({2, -2, 3, -1, 1, 5}), i64({10, 3, 0, -3, -2, -1}))) == List{1024, -8, 1, -1, 1, 0});
  CHECK(values(sub(of_type({1}, DType::u8), of_type({2}, DType::u8))) == List{255});
  CHECK(values(logical_xor(i64({0, 2, 3}), i64({5, 0, 7}))) == List{1, 1, 0});
  CHECK(values(floor(i64({-3}))) == List{-3});
}

TEST_CASE("floor division of floats rounds as in Python") {
  const Tensor a = f32({7, -7, 7, -7, 1, 0.6, 5, kInf}), b = f32({2, 2, -2, -2, 0.1, 0.2, 0, 2});
  const List down = values(floor_divide(a, b));
  CHECK(alike(down, {3, -4, -4, 3, 9, 3, kInf, kNaN}));
  const List rest = values(remainder(f32({7, -7, 7, -7, 5}), f32({2, 2, -2, -2, kInf})));
  CHECK(rest == List{1, 1, -1, -1, 5});
  CHECK(values(round(f32({0.5, 1.5, 2.5, -0.5, -1.5}))) == List{0, 2, 2, 0, -2});
}

TEST_CASE("unsupported dtypes are errors with the reason") {
  CHECK(message_of([] { floor_divide(i64({1}), i64({0})); }) == "floor_divide: integer division by zero");
  CHECK(message_of([] { remainder(i64({1}), i64({0})); }) == "remainder: integer division by zero");
  CHECK(
      message_of([] { neg(ones({1}, DType::boolean)); }).starts_with("neg: bool tensors are not supported"));
  CHECK(message_of([] { where(f32({1}), f32({1}), f32({1})); }) ==
        "where: the condition must be a bool tensor (got f32)");
  CHECK(message_of([] { gelu(f32({1}), "exact"); }) ==
        "gelu: approximate must be \"none\" or \"tanh\" (got \"exact\")");
  CHECK(message_of([] { add(ones({2, 3}), ones({4})); }).starts_with("add: shapes [2, 3] and [4]"));
}

TEST_CASE("a gradient reads only what its expression uses") {
  const auto reads = [](Row row, int i) { return row_traits(int(row)).reads[size_t(i)]; };
  CHECK(reads(Row::exp, 0).inputs == 0);
  CHECK(reads(Row::exp, 0).outputs == 1);
  CHECK(reads(Row::mul, 0).inputs == 2);
  CHECK(reads(Row::mul, 1).inputs == 1);
  CHECK(reads(Row::where, 1).inputs == 1);
  CHECK(reads(Row::gelu, 0).inputs == 1);
  CHECK(row_traits(int(Row::add)).gradients[1] == GradientForm::passes_g);
  CHECK(row_traits(int(Row::floor)).gradients[0] == GradientForm::none);
  CHECK(find_op("_tanh_grad") != nullptr);
  CHECK(find_op("_mul_grad_b") != nullptr);
  CHECK(find_op("_add_grad_a") == nullptr);
  CHECK(elementwise_use(*find_op("_mul_grad_b")).row == int(Row::mul));
  CHECK(elementwise_use(*find_op("_mul_grad_b")).gradient == 1);
}

// Random operands g, a, b, c, y for the kernels of a row, away from kinks.
struct RowSamples {
  List in[5];
  double params[kMaxRowParams] = {0.5, 0.5, 0.5};
  RowSamples(int row, size_t count) {
    const RowTraits& traits = row_traits(row);
    uint64_t state = uint64_t(row) * 77 + 5;
    const auto next = [&] {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return double(state >> 11) * 0x1p-53;
    };
    for (const ParamSpec& spec : elementwise_op(Row(row)).params)
      if (spec.kind == ParamKind::choice) params[0] = 1;
    for (size_t i = 0; i < count; ++i) {
      double operand[3] = {};
      for (int k = 0; k < 3; ++k) operand[k] = float(traits.lo + (traits.hi - traits.lo) * next());
      in[0].push_back(float(next() * 2 - 1));
      for (int k = 0; k < 3; ++k) in[k + 1].push_back(operand[k]);
      in[4].push_back(float(evaluate_reference({row, -1}, operand, 0, params)));
    }
  }
};

// Computes a row's value or gradient for the first `count` samples and returns the largest error against the
// reference, relative to the magnitudes involved. Checks that the element after the last does not change.
template <class T>
double largest_row_error(ElementwiseUse use, const RowSamples& samples, int64_t count, int repeated) {
  const RowTraits& traits = row_traits(use.row);
  const bool gradient = use.gradient >= 0;
  std::vector<T> in[5];
  Stretch stretch{};
  int operands = 0;
  const auto add = [&](int sample) {
    in[operands].assign(samples.in[sample].begin(), samples.in[sample].begin() + count);
    stretch.in[operands] = in[operands].data();
    stretch.step[operands] = sample == repeated ? 0 : 1;
    ++operands;
  };
  if (gradient) add(0);
  for (int i = 0; i < traits.arity; ++i) add(i + 1);
  if (gradient) add(4);
  std::vector<T> out(size_t(count) + 1, T(77));
  std::vector<uint8_t> conditions(size_t(count) + 1, 77);
  stretch.out = traits.boolean_result ? static_cast<void*>(conditions.data()) : out.data();
  stretch.count = count;
  stretch.params = samples.params;
  const RowKernels& kernels = row_kernels(use.row);
  (gradient ? kernels.gradient[use.gradient] : kernels.value)[sizeof(T) == 8](stretch);
  if (traits.boolean_result) out.assign(conditions.begin(), conditions.end());
  if (out.back() != T(77)) return kInf;
  double worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto sample = [&](int k) { return samples.in[k][size_t(k == repeated ? 0 : i)]; };
    const double operand[3] = {sample(1), sample(2), sample(3)};
    double wanted = evaluate_reference(use, operand, sample(4), samples.params);
    if (gradient) wanted *= sample(0);
    const double got = double(out[size_t(i)]);
    if (std::isnan(got) != std::isnan(wanted)) return kInf;
    if (!std::isnan(got)) worst = std::max(worst, std::fabs(got - wanted) / std::max(1.0, std::fabs(wanted)));
  }
  return worst;
}

TEST_CASE("every kernel agrees with the reference for every length, repeated operand and SIMD target") {
  const auto supported = hwy::SupportedTargets();
  for (const int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON, HWY_SCALAR}) {
    if (!(supported & HWY_TARGETS & target)) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    for (int row = 0; row < kRowCount; ++row) {
      const RowTraits& traits = row_traits(row);
      if (traits.types == RowTypes::kinteger) continue;
      const RowSamples samples(row, 70);
      for (int gradient = -1; gradient < (traits.boolean_result ? 0 : traits.arity); ++gradient)
        for (const int64_t count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 70})
          for (int repeated = -1; repeated <= traits.arity; ++repeated) {
            // A repeated operand changes y: skip the gradients that read it.
            if (gradient >= 0 && repeated > 0 && traits.reads[size_t(gradient)].outputs) continue;
            const ElementwiseUse use{row, gradient};
            const double f32_error = largest_row_error<float>(use, samples, count, repeated);
            const double f64_error = largest_row_error<double>(use, samples, count, repeated);
            if (f32_error < 4e-6 && f64_error < 1e-14) continue;
            CAPTURE(traits.name);
            CAPTURE(gradient);
            CAPTURE(count);
            CAPTURE(repeated);
            CAPTURE(std::string(hwy::TargetName(target)));
            CHECK(f32_error < 4e-6);
            CHECK(f64_error < 1e-14);
          }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// x + y, computed element by element on contiguous copies.
List added_slowly(const Tensor& x, const Tensor& y, const Shape& shape) {
  const List a = values(contiguous(expand(x, shape))), b = values(contiguous(expand(y, shape)));
  List sum(a.size());
  for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

Tensor counted(const Shape& shape, DType type = DType::f32) {
  List values(size_t(numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = double(i % 251);
  return to(Tensor::from<double>(values, shape), type);
}

TEST_CASE("operands of any layout and dtype are read in the right order") {
  const Shape shape{70, 130, 90};
  const Tensor whole = counted(shape);
  const Tensor others[] = {permute(counted({90, 70, 130}), {1, 2, 0}),
                           permute(counted({130, 90, 70}), {2, 0, 1}),
                           transpose(counted({130, 70, 90}), 0, 1),
                           slice(counted({70, 130, 180}), 2, 0, 180, 2),
                           counted({130, 1}),
                           counted({70, 1, 1}),
                           counted({90}),
                           counted({70, 1, 90}, DType::i32),
                           counted(shape, DType::f16),
                           permute(counted({90, 70, 130}, DType::bf16), {1, 2, 0}),
                           counted({1, 1, 1}, DType::u8)};
  for (const Tensor& other : others) {
    CAPTURE(other.shape());
    CAPTURE(other.strides());
    const List wanted = added_slowly(whole, other, shape);
    CHECK(values(add(whole, other)) == wanted);
    CHECK(values(add(other, whole)) == wanted);
    const Tensor target = permute(counted({90, 70, 130}), {1, 2, 0});  // in place, not contiguous
    const List changed = added_slowly(target, other, shape);
    apply_in_place(elementwise_op(Row::add), {target, other});
    CHECK(values(target) == changed);
  }
}

TEST_CASE("results written with non-temporal stores are complete") {
  const Tensor a = counted({3000017}), b = narrow(counted({3000020}), 0, 3, 3000017);
  CHECK(values(add(a, b)) == added_slowly(a, b, a.shape()));
}

TEST_CASE("16-bit floats are computed in f32 and rounded once") {
  for (const DType type : {DType::f16, DType::bf16}) {
    const Tensor x = of_type({0.1, 1.5, -3.3, 60000, 1e-6}, type);
    const List rounded = values(x), y = values(exp(mul(x, Tensor::number(0.001))));
    for (size_t i = 0; i < y.size(); ++i) {
      const List scaled = values(of_type({double(float(rounded[i]) * 0.001f)}, type));
      const List wanted = values(of_type({std::exp(scaled[0])}, type));
      CHECK(y[i] == wanted[0]);
    }
  }
}

TEST_CASE("casts between all real dtypes equal convert(), in every layout") {
  const List numbers = {0,    1,   -1,    2.5, -2.5, 255,  256,  -129,  65504, 65520, 1e-7,
                        3e-8, 1e5, -1e10, 3e9, 1e19, 1e30, kInf, -kInf, kNaN,  0.1,   127};
  for (int from = 0; from <= int(DType::f64); ++from)
    for (int to_type = 0; to_type <= int(DType::f64); ++to_type) {
      const Tensor x = reshape(of_type(numbers, DType(from)), {2, 11});
      const Tensor y = to(x, DType(to_type)), z = to(t(x), DType(to_type));
      List wanted;
      visit_dtype(DType(from), [&]<class From>() {
        visit_dtype(DType(to_type), [&]<class To>() {
          for (int i = 0; i < 22; ++i) wanted.push_back(convert<double>(convert<To>(x.data<From>()[i])));
        });
      });
      CAPTURE(DType(from));
      CAPTURE(DType(to_type));
      CHECK(alike(values(y), wanted));
      CHECK(alike(values(t(z)), wanted));
    }
}

TEST_CASE("all 65536 f16 values convert to the right f32 and back") {
  std::vector<Half> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i].bits = uint16_t(i);
  const Tensor x = Tensor::from<Half>(halves, {65536});
  const Tensor wide = to(x, DType::f32);
  const Tensor narrow = to(wide, DType::f16);
  const Half* back = narrow.data<Half>();
  int wrong = 0;
  for (size_t i = 0; i < halves.size(); ++i) {
    const float exact = float(halves[i]), got = wide.data<float>()[i];
    if (std::isnan(exact))
      wrong += !std::isnan(got) || !std::isnan(float(back[i]));
    else
      wrong += exact != got || back[i].bits != halves[i].bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("f32 halfway between two f16 values rounds to even") {
  List between;
  std::vector<float> wanted;
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    Half low, high;
    low.bits = bits;
    high.bits = uint16_t(bits + 1);
    between.push_back((double(float(low)) + double(float(high))) / 2);
    wanted.push_back(float(bits & 1 ? high : low));
  }
  CHECK(to(to(f32(between), DType::f16), DType::f32).to_vector<float>() == wanted);
}

}  // namespace
}  // namespace lunagrad::tests
