// Reductions: sum, mean, prod, var, std, max, min, amax, amin, argmax, argmin, logsumexp, all, any.
// The kernels are in ops/reductions/cpu/reduce.h; gradients are tensor expressions, so each can be
// differentiated again.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>

#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/reductions/reduction.h"

namespace lunagrad {
namespace {

void reduce_integers_into(const Call& call, ReduceKind reduction) {
  const Tensor& out = call.output();
  visit_dtype(out.dtype(), [&]<class Out>() {
    Out* to = out.data<Out>();
    reduce_integers(reduction, call.input(0), mask_of(call), [&](int64_t first, int64_t n, const int64_t* s) {
      for (int64_t i = 0; i < n; ++i) to[first + i] = convert<Out>(s[i]);
    });
  });
}

// A sum or product of complex numbers, divided by `count`.
void reduce_complex_into(const Call& call, ReduceKind reduction, double count = 1) {
  visit_any_dtype(call.output().dtype(), [&]<class Out>() {
    if constexpr (is_complex_v<Out>) {
      Out* const to = call.output().data<Out>();
      reduce_complex(reduction, call.input(0), mask_of(call),
                     [&](int64_t first, int64_t n, const std::complex<double>* s) {
                       for (int64_t i = 0; i < n; ++i) to[first + i] = Out(s[i] / count);
                     });
    }
  });
}

void reduce_any_type(const Call& call, ReduceKind reduction) {
  if (is_complex(call.input(0).dtype()))
    reduce_complex_into(call, reduction);
  else if (is_floating(call.input(0).dtype()))
    reduce_into(call, reduction, 0, kDimsAt, first_state);
  else
    reduce_integers_into(call, reduction);
}

// --- sum, mean, prod ---

// The sum / divisor of floats. Sums of f32 and 16-bit floats stay within the range of f64.
void reduce_sum(const Call& call, double divisor) {
  const auto finish = [divisor](const double* s, int64_t i, int64_t) { return s[i] / divisor; };
  if (call.input(0).dtype() != DType::f64) return reduce_into(call, ReduceKind::sum, 0, kDimsAt, finish);
  reduce_checked(
      call, ReduceKind::sum, 0, kDimsAt, finish,
      [](const double* s, int64_t i, int64_t) { return std::isfinite(s[i]); },
      [divisor](const auto& elements) { return sum_again(elements, divisor); });
}

// Integers and bool add up in i64.
void total_shape(Call& call) {
  const DType dtype = call.input(0).dtype();
  emit_reduced(call, is_differentiable(dtype) ? dtype : DType::i64);
}

void sum_cpu(const Call& call) {
  is_floating(call.input(0).dtype()) ? reduce_sum(call, 1) : reduce_any_type(call, ReduceKind::sum);
}
void sum_vjp(Backward& b) { b.set(0, spread(b.grad(), b.shape(0), mask_of(b))); }
const Op kSum{.name = "sum",
              .doc = "The sum over dim, or over all elements; integers add up in i64.",
              .inputs = {{"input"}},
              .params = {kDims, kKeepdim},
              .shape = total_shape,
              .cpu = sum_cpu,
              .vjp = sum_vjp,
              .complex = true,
              .family = OpFamily::reduction,
              .autocast = AutocastPolicy::f32,
              .flops = kOnePerOperand};

void mean_shape(Call& call) {
  if (!is_complex(call.input(0).dtype())) need_floating(call);
  total_shape(call);
}
// For c128: recomputes the means whose sum is too large, from elements times a power of two.
void correct_complex_means(const Call& call, double count) {
  using Number = std::complex<double>;
  constexpr double kDown = 0x1p-64;
  Number* const to = call.output().data<Number>();
  const auto finite = [](Number z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); };
  if (std::all_of(to, to + call.output().numel(), finite)) return;
  const Tensor x = in_order(call.input(0));
  Call again = call;
  again.in[0] = Tensor::empty(x.shape(), x.dtype());
  again.out[0] = Tensor::empty(call.output().shape(), x.dtype());
  std::transform(x.data<Number>(), x.data<Number>() + x.numel(), again.in[0].data<Number>(),
                 [&](Number z) { return z * kDown; });
  reduce_complex_into(again, ReduceKind::sum, count);
  const Number* const from = again.out[0].data<Number>();
  for (int64_t i = 0; i < call.output().numel(); ++i)
    if (!finite(to[i])) to[i] = from[i] / kDown;
}
void mean_cpu(const Call& call) {
  const double count = double(reduced_count(call.input(0).shape(), mask_of(call)));
  if (!is_complex(call.input(0).dtype())) return reduce_sum(call, count);
  reduce_complex_into(call, ReduceKind::sum, count);
  if (call.output().dtype() == DType::c128) correct_complex_means(call, count);
}
void mean_vjp(Backward& b) {
  const uint32_t mask = mask_of(b);
  const double count = double(reduced_count(b.shape(0), mask));
  b.set(0, spread(b.grad() / count, b.shape(0), mask));
}
const Op kMean{.name = "mean",
               .doc = "The mean over dim, or of all elements.",
               .inputs = {{"input"}},
               .params = {kDims, kKeepdim},
               .shape = mean_shape,
               .cpu = mean_cpu,
               .vjp = mean_vjp,
               .complex = true,
               .family = OpFamily::reduction,
               .flops = kOnePerOperand};

// The order of dims in which the reduced ones come last, and the shape in which they are merged into one.
struct ReducedLast {
  Dims order;
  Shape rows;
  ReducedLast(const Shape& shape, uint32_t mask) : rows(reduced_shape(shape, mask, false)) {
    for (const bool reduced : {false, true})
      for (int d = 0; d < shape.size(); ++d)
        if (bool(mask >> d & 1) == reduced) order.push_back(d);
    rows.push_back(reduced_count(shape, mask));
  }
};

void prod_cpu(const Call& call) { reduce_any_type(call, ReduceKind::product); }
// As a balanced tree of products: the gradients are right also where factors are 0.
Operands prod_compose(const Call& call) {
  const Tensor x = is_integral(call.input(0).dtype()) ? to(call.input(0), DType::i64) : call.input(0);
  const uint32_t mask = mask_of(call);
  const auto [order, rows] = ReducedLast(x.shape(), mask);
  Tensor factors = reshape(permute(x, order), rows);
  const int last = rows.size() - 1;
  for (int64_t n = rows[last]; n > 1; n = factors.size(last)) {
    const int64_t half = n / 2;
    Tensor pairs = narrow(factors, last, 0, half) * narrow(factors, last, half, half);
    factors = n % 2 ? cat({pairs, narrow(factors, last, n - 1, 1)}, last) : pairs;
  }
  const Shape shape = reduced_shape(x.shape(), mask, call.flag(kKeepdimAt));
  if (rows[last] == 0) return {full(shape, 1.0, x.dtype(), x.device())};
  // The product of one factor is the factor itself, but in memory of its own.
  return {reshape(rows[last] == 1 ? clone(factors) : factors, shape)};
}
// Under create_graph, and for types other than f32 and the 16-bit floats, differentiates the tree.
void prod_vjp(Backward& b) {
  const DType type = b.dtype(0);
  if (b.create_graph() || (type != DType::f32 && !is_16bit_float(type)) || b.shape(0).empty())
    return differentiate_composition(b);
  static const Op& gradient = *find_op("_prod_grad");
  const Tensor x = b.input(0);
  const uint32_t mask = mask_of(b);
  if (std::has_single_bit(mask))
    return b.set(0,
                 apply1(gradient, {with_kept_dims(b.grad(), x.shape(), mask), x}, {std::countr_zero(mask)}));
  const auto [order, rows] = ReducedLast(x.shape(), mask);
  Dims back(x.ndim(), 0);
  for (int i = 0; i < x.ndim(); ++i) back[int(order[i])] = i;
  Shape one = rows;
  one[one.size() - 1] = 1;
  const Tensor moved = permute(x, order);
  const Tensor slopes =
      apply1(gradient, {reshape(b.grad(), one), reshape(moved, rows)}, {int64_t(rows.size() - 1)});
  b.set(0, permute(reshape(slopes, moved.shape()), back));
}
const Op kProd{.name = "prod",
               .doc = "The product over dim, or of all elements; integers multiply in i64.",
               .inputs = {{"input"}},
               .params = {kDims, kKeepdim},
               .shape = total_shape,
               .cpu = prod_cpu,
               .vjp = prod_vjp,
               .reads = {{.inputs = 1}},
               .compose = compose_in_f32<prod_compose>,
               .complex = true,
               .family = OpFamily::reduction,
               .autocast = AutocastPolicy::f32,
               .flops = kOnePerOperand};

// --- var, std ---

double degrees_of_freedom(const Values& params, const Shape& shape, uint32_t mask) {
  const Value& unbiased = params[kUnbiasedAt];
  const int64_t correction = unbiased.present() ? int64_t(unbiased.b) : params[kCorrectionAt].i;
  return std::max(0.0, double(reduced_count(shape, mask)) - double(correction));
}

void var_shape(Call& call) {
  need_floating(call);
  emit_reduced(call, call.input(0).dtype(), kDimsAt, kVarKeepdimAt);
}
template <bool root>
void var_cpu(const Call& call) {
  const double degrees = degrees_of_freedom(call.params, call.input(0).shape(), mask_of(call));
  const auto finish = [degrees](const double* s, int64_t i, int64_t n) {
    const double variance = s[2 * n + i] / degrees;
    return root ? std::sqrt(variance) : variance;
  };
  if (call.input(0).dtype() != DType::f64) return reduce_into(call, ReduceKind::moments, 0, kDimsAt, finish);
  reduce_checked(
      call, ReduceKind::moments, 0, kDimsAt, finish,
      [](const double* s, int64_t i, int64_t n) { return power_in_range(s[2 * n + i]); },
      [degrees](const auto& elements) { return variance_again(elements, degrees, root); });
}
// d var / d x = 2 (x - mean) / (n - correction); of its root, the deviation, (x - mean) / deviation / (n -
// correction), which is 0 where the deviation is 0. A gradient over a large deviation could be subnormal.
template <bool root>
void var_vjp(Backward& b) {
  const uint32_t mask = mask_of(b);
  const Tensor x = b.input(0), g = with_kept_dims(b.grad(), b.shape(0), mask);
  Dims dims;
  for (int i = 0; i < x.ndim(); ++i)
    if (mask >> i & 1) dims.push_back(i);
  Tensor apart = x - mean(x, dims, true);
  if (root) {
    const Tensor y = with_kept_dims(b.output(), b.shape(0), mask);
    apart = apart / where(eq(y, Tensor::number(0.0)), Tensor::number(1.0), y);
  }
  const double degrees = degrees_of_freedom(b.node().attributes->params, b.shape(0), mask);
  b.set(0, g * ((root ? 1 : 2) / degrees) * apart);
}
const Op kVar{
    .name = "var",
    .doc = "The variance over dim, or of all elements: the sum of squared deviations / (n - correction).",
    .inputs = {{"input"}},
    .params = kVarParams,
    .shape = var_shape,
    .cpu = var_cpu<false>,
    .vjp = var_vjp<false>,
    .reads = {{.inputs = 1}},
    .family = OpFamily::reduction,
    .flops = {for_input<4>,
              "4 for each element of the operand: the mean, then the sum of squared deviations"}};

const Op kStd{.name = "std",
              .doc = "The standard deviation over dim, or of all elements: the square root of var.",
              .inputs = {{"input"}},
              .params = kVarParams,
              .shape = var_shape,
              .cpu = var_cpu<true>,
              .vjp = var_vjp<true>,
              .reads = {{.inputs = 1, .outputs = 1}},
              .family = OpFamily::reduction,
              .flops = {for_input<4>,
                        "4 for each element of the operand: the mean, then the sum of squared deviations"}};

// --- max, min ---

void extreme_shape(Call& call) {
  need_elements(call, mask_of(call));
  emit_reduced(call, call.input(0).dtype());
}
void amax_cpu(const Call& call) { reduce_any_type(call, ReduceKind::max); }
void amin_cpu(const Call& call) { reduce_any_type(call, ReduceKind::min); }
// Equal largest elements share the gradient equally.
void extreme_vjp(Backward& b) {
  const uint32_t mask = mask_of(b);
  const Tensor x = b.input(0), y = with_kept_dims(b.output(), b.shape(0), mask);
  const Tensor ties = to(eq(x, y), b.dtype(0));
  Dims dims;
  for (int i = 0; i < x.ndim(); ++i)
    if (mask >> i & 1) dims.push_back(i);
  b.set(0, ties * (with_kept_dims(b.grad(), b.shape(0), mask) / sum(ties, dims, true)));
}
Op extreme_op(const char* name, const char* doc, void (*cpu)(const Call&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .params = {kDims, kKeepdim},
          .shape = extreme_shape,
          .cpu = cpu,
          .vjp = extreme_vjp,
          .reads = {{.inputs = 1, .outputs = 1}},
          .family = OpFamily::reduction,
          .flops = kOnePerOperand};
}
const Op kAmax = extreme_op(
    "amax", "The largest element over dim, or of all; equal elements share the gradient.", amax_cpu);
const Op kAmin = extreme_op(
    "amin", "The smallest element over dim, or of all; equal elements share the gradient.", amin_cpu);

// Values along one dim and their indices.
void extreme_dim_shape(Call& call) {
  need_elements(call, mask_of(call));
  emit_reduced(call, call.input(0).dtype());
  emit_reduced(call, DType::i64);
}
template <bool largest>
void extreme_dim_cpu(const Call& call) {
  find_extremes(largest, call.input(0), mask_of(call), call.output(0).raw(), call.output(1).data<int64_t>());
}
void extreme_dim_vjp(Backward& b) {
  const uint32_t mask = mask_of(b);
  const int dim = normalize_dim(b.node().op->name, b.integer(kDimsAt), b.shape(0));
  const Tensor g = b.grad();
  if (b.shape(0).empty()) return b.set(0, g);
  b.set(0, scatter(blank(b.shape(0), g.dtype(), g.device()), dim,
                   with_kept_dims(b.output(1), b.shape(0), mask), with_kept_dims(g, b.shape(0), mask)));
}
Op extreme_dim_op(const char* name, const char* doc, void (*cpu)(const Call&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .params = {{"dim", ParamKind::dim, {}}, kKeepdim},
          .shape = extreme_dim_shape,
          .cpu = cpu,
          .vjp = extreme_dim_vjp,
          .reads = {{.outputs = 2}},
          .family = OpFamily::reduction,
          .flops = kOnePerOperand};
}
const Op kMaxDim =
    extreme_dim_op("_max", "Largest element along a dim, and its index.", extreme_dim_cpu<true>);
const Op kMinDim =
    extreme_dim_op("_min", "Smallest element along a dim, and its index.", extreme_dim_cpu<false>);

Operands extreme_compose(const Call& call, const Op& all, const Op& along_dim) {
  if (call.params[kDimsAt].present()) return apply(along_dim, call.in, call.params);
  const Tensor& x = call.input(0);
  if (x.numel() == 0)
    fail(call.op->name, ": cannot reduce an empty tensor without an identity (shape ", x.shape(), ")");
  return apply(all, call.in, call.params);
}
Operands max_compose(const Call& call) { return extreme_compose(call, kAmax, kMaxDim); }
Operands min_compose(const Call& call) { return extreme_compose(call, kAmin, kMinDim); }
Op public_extreme_op(const char* name, const char* doc, Operands (*compose)(const Call&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .params = {kOneDim, kKeepdim},
          .compose = compose,
          .family = OpFamily::reduction};
}
const Op kMax = public_extreme_op(
    "max", "The largest element; with dim also its index (from 0), and only that element gets the gradient.",
    max_compose);
const Op kMin = public_extreme_op(
    "min", "The smallest element; with dim also its index (from 0), and only that element gets the gradient.",
    min_compose);

void arg_extreme_shape(Call& call) {
  need_elements(call, mask_of(call));
  emit_reduced(call, DType::i64);
}
template <bool largest>
void arg_extreme_cpu(const Call& call) {
  find_extremes(largest, call.input(0), mask_of(call), nullptr, call.output().data<int64_t>());
}
Op arg_extreme_op(const char* name, const char* doc, void (*cpu)(const Call&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .params = {kOneDim, kKeepdim},
          .shape = arg_extreme_shape,
          .cpu = cpu,
          .family = OpFamily::reduction,
          .flops = kOnePerOperand};
}
const Op kArgmax = arg_extreme_op(
    "argmax", "The index (from 0) of the largest element along dim, or in the flattened input.",
    arg_extreme_cpu<true>);
const Op kArgmin = arg_extreme_op(
    "argmin", "The index (from 0) of the smallest element along dim, or in the flattened input.",
    arg_extreme_cpu<false>);

// --- logsumexp ---

// Several dims are moved to the end and merged.
Operands logsumexp_compose(const Call& call) {
  need_floating(call);
  const Tensor& x = call.input(0);
  const uint32_t mask = mask_of(call);
  if (x.ndim() == 0) return {logsumexp_along(reshape(x, {1}), 0)};
  const int64_t count = reduced_count(x.shape(), mask);
  if (count == 0) return {log(apply1(kSum, {x}, call.params))};
  const Shape shape = reduced_shape(x.shape(), mask, call.flag(kKeepdimAt));
  if (std::has_single_bit(mask)) return {reshape(logsumexp_along(x, std::countr_zero(mask)), shape)};
  const auto [order, rows] = ReducedLast(x.shape(), mask);
  return {reshape(logsumexp_along(reshape(permute(x, order), rows), rows.size() - 1), shape)};
}
const Op kLogsumexp{.name = "logsumexp",
                    .doc = "log(sum(exp(input))) over dim without overflow.",
                    .inputs = {{"input"}},
                    .params = {kDims, kKeepdim},
                    .compose = logsumexp_compose,
                    .family = OpFamily::reduction,
                    .autocast = AutocastPolicy::f32};

// --- all, any ---

void truth_shape(Call& call) { emit_reduced(call, DType::boolean); }
void truth_cpu(const Call& call, bool all) {
  bool* to = call.output().data<bool>();
  reduce_truth(all, call.input(0), mask_of(call), [&](int64_t first, int64_t n, const uint8_t* s) {
    for (int64_t i = 0; i < n; ++i) to[first + i] = s[i] != 0;
  });
}
void all_cpu(const Call& call) { truth_cpu(call, true); }
void any_cpu(const Call& call) { truth_cpu(call, false); }
Op truth_op(const char* name, const char* doc, void (*cpu)(const Call&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .params = {kDims, kKeepdim},
          .shape = truth_shape,
          .cpu = cpu,
          .complex = true,
          .family = OpFamily::reduction,
          .flops = kOnePerOperand};
}
const Op kAll = truth_op("all", "Whether every element over dim, or of all, is not zero.", all_cpu);
const Op kAny = truth_op("any", "Whether any element over dim, or of all, is not zero.", any_cpu);

}  // namespace

Tensor sum(const Tensor& x, const Dims& dims, bool keepdim) {
  return apply1(kSum, {x}, {dims_value(dims), keepdim});
}
Tensor mean(const Tensor& x, const Dims& dims, bool keepdim) {
  return apply1(kMean, {x}, {dims_value(dims), keepdim});
}
Tensor prod(const Tensor& x, const Dims& dims, bool keepdim) {
  return apply1(kProd, {x}, {dims_value(dims), keepdim});
}
Tensor var(const Tensor& x, const Dims& dims, int64_t correction, bool keepdim) {
  return apply1(kVar, {x}, {dims_value(dims), Value(), keepdim, correction});
}
Tensor stddev(const Tensor& x, const Dims& dims, int64_t correction, bool keepdim) {
  return apply1(kStd, {x}, {dims_value(dims), Value(), keepdim, correction});
}
Tensor amax(const Tensor& x, const Dims& dims, bool keepdim) {
  return apply1(kAmax, {x}, {dims_value(dims), keepdim});
}
Tensor amin(const Tensor& x, const Dims& dims, bool keepdim) {
  return apply1(kAmin, {x}, {dims_value(dims), keepdim});
}
Tensor max(const Tensor& x) { return apply1(kMax, {x}, {Value(), false}); }
Tensor min(const Tensor& x) { return apply1(kMin, {x}, {Value(), false}); }
std::pair<Tensor, Tensor> max(const Tensor& x, int dim, bool keepdim) {
  Operands both = apply(kMaxDim, {x}, {dim, keepdim});
  return {both[0], both[1]};
}
std::pair<Tensor, Tensor> min(const Tensor& x, int dim, bool keepdim) {
  Operands both = apply(kMinDim, {x}, {dim, keepdim});
  return {both[0], both[1]};
}
Tensor argmax(const Tensor& x, std::optional<int> dim, bool keepdim) {
  return apply1(kArgmax, {x}, {dim ? Value(*dim) : Value(), keepdim});
}
Tensor argmin(const Tensor& x, std::optional<int> dim, bool keepdim) {
  return apply1(kArgmin, {x}, {dim ? Value(*dim) : Value(), keepdim});
}
Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim) {
  return apply1(kLogsumexp, {x}, {dims_value(dims), keepdim});
}
Tensor all(const Tensor& x, const Dims& dims, bool keepdim) {
  return apply1(kAll, {x}, {dims_value(dims), keepdim});
}
Tensor any(const Tensor& x, const Dims& dims, bool keepdim) {
  return apply1(kAny, {x}, {dims_value(dims), keepdim});
}

std::span<const Op* const> reduce_ops() {
  static const Op* const ops[] = {&kSum, &kMean,   &kProd,   &kVar,    &kStd,    &kAmax,      &kAmin, &kMax,
                                  &kMin, &kMaxDim, &kMinDim, &kArgmax, &kArgmin, &kLogsumexp, &kAll,  &kAny};
  return ops;
}

}  // namespace lunagrad
