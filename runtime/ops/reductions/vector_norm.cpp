// Norms of vectors: (sum |x|^p)^(1/p) over any dims. The kernel is in ops/reductions/cpu/reduce.h.
#include <algorithm>
#include <cmath>

#include "runtime/ops/flops.h"
#include "runtime/ops/reductions/large_means.h"
#include "runtime/ops/reductions/reduction.h"

namespace lunagrad {
namespace {

constexpr int kPowerAt = 0, kNormDimsAt = 1, kNormKeepdimAt = 2;

void norm_shape(Call& call) { emit_reduced(call, call.input(0).dtype(), kNormDimsAt, kNormKeepdimAt); }
// x^p for x >= 0, with the gradient 0 where x is 0.
Tensor power_apart_from_zero(const Tensor& x, double p) {
  const Tensor none = eq(x, Tensor::number(0.0));
  return where(none, Tensor::number(std::pow(0.0, p)),
               pow(where(none, Tensor::number(1.0), x), Tensor::number(p)));
}
// Powers of magnitudes from 1 / limit to limit stay in range, and so do the powers of the quotients in higher
// derivatives.
double ordinary_limit(DType type, double p) {
  return std::exp2((type == DType::f64 ? 200 : 20) / std::max(1.0, std::abs(p) / 2));
}
// A factor for each row, which counts as a constant: 1, or the number that brings the row's largest element
// near 1.
Tensor factor_for_powers(const Tensor& x, double p, const Value& dims) {
  const NoGrad off;
  static const Op& amax_op = *find_op("amax");
  const double limit = ordinary_limit(x.dtype(), p);
  const Tensor largest = apply1(amax_op, {abs(x.detach())}, {dims, true}), zero = Tensor::number(0.0);
  const Tensor far = logical_or(gt(largest, Tensor::number(limit)), lt(largest, Tensor::number(1 / limit)));
  const Tensor scaled = logical_and(far, logical_and(isfinite(largest), gt(largest, zero)));
  // The reciprocal of a subnormal number may be infinite.
  const double least = x.dtype() == DType::f64 ? 0x1p-1000 : 0x1p-120;
  return where(scaled, 1.0 / clamp(largest, least), Tensor::number(1.0));
}
// (sum |x|^p)^(1/p); p = 0 counts the nonzero elements; p = ±inf is the largest or smallest |x|.
Operands norm_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const double p = call.real(kPowerAt);
  const Value &dims = call.params[kNormDimsAt], &keepdim = call.params[kNormKeepdimAt];
  static const Op &sum_op = *find_op("sum"), &amax_op = *find_op("amax"), &amin_op = *find_op("amin");
  if (std::isinf(p)) return apply(p > 0 ? amax_op : amin_op, {abs(x)}, {dims, keepdim});
  if (p == 0) {
    const Tensor zero = Tensor::number(0.0), one = Tensor::number(1.0);
    // The sign makes the gradient 0; NaN counts as 1.
    return apply(sum_op, {sign(where(eq(x, zero), x, one))}, {dims, keepdim});
  }
  // Zeros are replaced by constants, since a power may have an infinite gradient at 0. Their gradient is 0,
  // as in norm_vjp.
  if (p == 1) return apply(sum_op, {abs(x)}, {dims, keepdim});
  const Tensor factor = x.numel() == 0 ? ones_like(x) : factor_for_powers(x, p, dims);
  const Tensor scaled = x * factor;
  const Tensor powers = p == 2 ? square(scaled) : power_apart_from_zero(abs(scaled), p);
  const Tensor total = apply1(sum_op, {powers}, {dims, keepdim});
  const Tensor y = power_apart_from_zero(total, 1 / p);
  return {x.numel() == 0 ? y : y / reshape(factor, y.shape())};
}
void norm_cpu(const Call& call) {
  const double p = call.real(kPowerAt);
  if (p == 1) return reduce_into(call, ReduceKind::sum_abs, 0, kNormDimsAt, first_state);
  const auto ordinary = [](const double* s, int64_t i, int64_t) { return power_in_range(s[i]); };
  const auto again = [p](const auto& elements) { return norm_again(elements, p); };
  if (p != 2)
    return reduce_checked(
        call, ReduceKind::sum_powers, p, kNormDimsAt,
        [p](const double* s, int64_t i, int64_t) { return std::pow(s[i], 1 / p); }, ordinary, again);
  const auto root = [](const double* s, int64_t i, int64_t) { return std::sqrt(s[i]); };
  if (call.input(0).dtype() != DType::f64)
    return reduce_into(call, ReduceKind::sum_squares, 0, kNormDimsAt, root);
  reduce_checked(call, ReduceKind::sum_squares, 0, kNormDimsAt, root, ordinary, again);
}
// d y / d x = sign(x) (|x| / y)^(p-1), taken as 0 where y is 0. Powers with an exponent in -1 … 1 stay in
// range. With other exponents only the quotient is raised to the power.
void norm_vjp(Backward& b) {
  const double p = b.real(kPowerAt);
  const uint32_t mask = mask_of(b, kNormDimsAt);
  const Tensor x = b.input(0), g = with_kept_dims(b.grad(), b.shape(0), mask);
  const Tensor zero = Tensor::number(0.0), one = Tensor::number(1.0);
  if (p == 1) return b.set(0, g * sign(x));
  if (b.create_graph()) {
    // Derivatives of the quotients below divide by y^2.
    const Magnitudes sizes = magnitudes_of(b.output());
    const double limit = ordinary_limit(x.dtype(), p);
    const bool ordinary = sizes.known && sizes.least >= 1 / limit && sizes.largest <= limit;
    if (!ordinary) return differentiate_composition(b);
  }
  const Tensor y = with_kept_dims(b.output(), b.shape(0), mask);
  if (p == 2) {
    // Devices may flush a subnormal number g / y to 0. A division for each element costs them no time: they
    // wait for memory.
    if (!x.device().is_cpu()) return b.set(0, x / where(eq(y, zero), one, y) * g);
    return b.set(0, x * where(eq(y, zero), zero, g / y));
  }
  const Tensor power = Tensor::number(p - 1), none = eq(x, zero);
  if (std::abs(p - 1) <= 1)
    return b.set(
        0, sign(x) * pow(where(none, one, abs(x)), power) * where(eq(y, zero), zero, g / pow(y, power)));
  const Tensor some = where(eq(y, zero), one, y);
  b.set(0, sign(x) * pow(where(none, some, abs(x)) / some, power) * g);
}
double norm_flops(const Call& call) {
  const double p = call.real(kPowerAt);
  return (p == 1 || p == 2 ? 2 : 3) * elements(call.in[0]);
}
const Op kPNorm{.name = "_norm",
                .doc = "The p-norm for finite p other than 0.",
                .inputs = {{"input"}},
                .params = {{"p", ParamKind::real, 2.0}, kDims, kKeepdim},
                .shape = norm_shape,
                .cpu = norm_cpu,
                .vjp = norm_vjp,
                .reads = {{.inputs = 1, .outputs = 1}},
                .compose = compose_in_f32<norm_compose>,
                .family = OpFamily::reduction,
                .flops = {norm_flops, "2 for each element of the operand, 3 if p is neither 1 nor 2"}};
// Norms of complex numbers: the 2-norm is the 2-norm of the parts; all others are norms of the magnitudes.
Operands complex_norm(const Call& call) {
  const Tensor& x = call.input(0);
  const Value &dims = call.params[kNormDimsAt], &keepdim = call.params[kNormKeepdimAt];
  if (call.real(kPowerAt) != 2) return apply(*call.op, {abs(x)}, call.params);
  const uint32_t mask = mask_of(call.op->name, dims, x.shape());
  Dims all;
  for (int i = 0; i < x.ndim(); ++i)
    if (mask >> i & 1) all.push_back(i);
  all.push_back(x.ndim());
  const Tensor y = norm(view_as_real(x), 2, all, keepdim.b);
  return {keepdim.b ? squeeze(y, -1) : y};
}
Operands any_norm_compose(const Call& call) {
  const double p = call.real(kPowerAt);
  if (is_complex(call.input(0).dtype())) return complex_norm(call);
  need_floating(call);
  if (std::isinf(p)) need_elements(call, mask_of(call, kNormDimsAt));
  return std::isinf(p) || p == 0 ? norm_compose(call) : apply(kPNorm, call.in, call.params);
}
const Op kNorm{.name = "norm",
               .doc = "The p-norm over dim, or of all elements; p may be 0, inf and -inf.",
               .inputs = {{"input"}},
               .params = {{"p", ParamKind::real, 2.0}, kDims, kKeepdim},
               .compose = any_norm_compose,
               .family = OpFamily::reduction,
               .autocast = AutocastPolicy::f32};

// The norm under PyTorch's newer name; it is computed in dtype.
Operands vector_norm_compose(const Call& call) {
  const Tensor& x = call.input(0);
  return apply(kNorm, {call.params[3].present() ? to(x, DType(call.integer(3))) : x},
               {call.params[0], call.params[1], call.params[2]});
}
const Op kVectorNorm{.name = "vector_norm",
                     .doc = "The ord-norm over dim, or of all elements; ord may be 0, inf and -inf.",
                     .inputs = {{"input"}},
                     .params = {{"ord", ParamKind::real, 2.0},
                                kDims,
                                kKeepdim,
                                {.name = "dtype", .kind = ParamKind::dtype, .optional = true}},
                     .compose = vector_norm_compose,
                     .family = OpFamily::reduction,
                     .autocast = AutocastPolicy::f32};

}  // namespace

Tensor norm(const Tensor& x, double p, const Dims& dims, bool keepdim) {
  return apply1(kNorm, {x}, {p, dims_value(dims), keepdim});
}

std::span<const Op* const> vector_norm_ops() {
  static const Op* const ops[] = {&kNorm, &kPNorm, &kVectorNorm};
  return ops;
}

}  // namespace lunagrad
