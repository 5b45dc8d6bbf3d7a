// The hidden records that run calls of add, sub, div, clamp, sum, mean and prod with more arguments than the
// public records have, so that the plain call stays fast. Scripts use the public names (Op::short_form). Also
// isclose, a composition of several rows.
#include <cmath>

#include "runtime/core/in_place.h"
#include "runtime/core/script_numbers.h"
#include "runtime/elementwise/elementwise.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

// --- add, sub with alpha ---

double checked_alpha(const Call& call, const char* op) {
  const Value& alpha = call.params[0];
  const double value = alpha.kind == Value::Kind::real      ? alpha.f
                       : alpha.kind == Value::Kind::boolean ? double(alpha.b)
                                                            : double(alpha.i);
  bool integers = true, booleans = true;
  for (const Tensor& x : call.in) {
    integers &= !is_differentiable(x.dtype());
    booleans &= x.dtype() == DType::boolean;
  }
  if (booleans) fail(op, ": alpha is not for bool tensors");
  if (integers && alpha.kind == Value::Kind::real)
    fail(op, ": for integers alpha must be an integer (got ", value, ")");
  return value;
}

Tensor run_row(Row row, Operands in, Values params, bool in_place) {
  const Op& op = elementwise_op(row);
  return in_place ? apply_in_place(op, std::move(in), std::move(params))
                  : apply1(op, std::move(in), std::move(params));
}

// a + alpha b is one pass of addcmul; errors name the public op.
Operands scaled_sum(const Call& call, Row row, double sign, bool in_place) {
  const Tensor &a = call.in[0], &b = call.in[1];
  const char* op = row_traits(int(row)).name;
  const Value& alpha = call.params[0];
  if (alpha == Value(1) || alpha == Value(1.0)) return {run_row(row, {a, b}, {}, in_place)};
  if (in_place) check_in_place(op, a);
  broadcast_shapes(op, a.shape(), b.shape());
  const double factor = sign * checked_alpha(call, op);
  return {run_row(Row::addcmul, {a, b, Tensor::number(int64_t(1))}, {factor}, in_place)};
}
Operands add_compose(const Call& call) { return scaled_sum(call, Row::add, 1, false); }
Operands sub_compose(const Call& call) { return scaled_sum(call, Row::sub, -1, false); }
const ParamSpec kAlpha{"alpha", ParamKind::number, 1};
const Op kAddAlpha{.name = "_add_alpha",
                   .doc = "input + alpha other.",
                   .inputs = {{"input"}, {"other"}},
                   .params = {kAlpha},
                   .compose = add_compose,
                   .family = OpFamily::elementwise,
                   .number_inputs = 0b11,
                   .short_form = "add"};
const Op kSubAlpha{.name = "_sub_alpha",
                   .doc = "input - alpha other.",
                   .inputs = {{"input"}, {"other"}},
                   .params = {kAlpha},
                   .compose = sub_compose,
                   .family = OpFamily::elementwise,
                   .number_inputs = 0b11,
                   .short_form = "sub"};

// --- div with a rounding mode ---

constexpr int64_t kTruncated = 1, kFloored = 2;

Operands div_compose(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const Value& mode = call.params[0];
  if (!mode.present() || mode.i == 0) return {div(a, b)};
  if (mode.i == kFloored) return {floor_divide(a, b)};
  if (is_floating(a.dtype()) || is_floating(b.dtype())) return {trunc(div(a, b))};
  return {floor_divide(a - fmod(a, b), b)};
}
const Op kDivRounding{
    .name = "_div_rounding",
    .doc = "input / other, rounded towards 0 (\"trunc\") or down (\"floor\") if rounding_mode says so.",
    .inputs = {{"input"}, {"other"}},
    .params = {{.name = "rounding_mode",
                .kind = ParamKind::choice,
                .choices = {"none", "trunc", "floor"},
                .optional = true}},
    .compose = div_compose,
    .family = OpFamily::elementwise,
    .number_inputs = 0b11,
    .short_form = "div"};

// --- clamp between numbers or tensors ---

Value optional_bound(const Tensor& bound) { return bound.defined() ? value_of(bound) : Value(); }
// Whether the bound is absent or an exact double: a row's parameters are doubles.
bool is_exact_or_absent(const Tensor& bound) {
  constexpr int64_t kMost = int64_t(1) << 53;
  if (!bound.defined()) return true;
  return bound.is_number() &&
         (is_floating(bound.dtype()) || (bound.item_integer() >= -kMost && bound.item_integer() <= kMost));
}
Operands clamp_between(const Call& call, bool in_place) {
  Tensor x = call.in[0];
  const Tensor &low = call.in[1], &high = call.in[2];
  if (!low.defined() && !high.defined()) fail("clamp: min, max or both are needed");
  if (is_exact_or_absent(low) && is_exact_or_absent(high))
    return {run_row(Row::clamp, {x}, {optional_bound(low), optional_bound(high)}, in_place)};
  if (in_place) check_in_place("clamp", x);
  for (const Tensor& bound : {low, high})
    if (bound.defined()) broadcast_shapes("clamp", x.shape(), bound.shape());
  if (low.defined()) x = run_row(Row::clamp_min, {x, low}, {}, in_place);
  if (high.defined()) x = run_row(Row::clamp_max, {x, high}, {}, in_place);
  return {x};
}
Operands clamp_compose(const Call& call) { return clamp_between(call, false); }
const Op kClampBounds{.name = "_clamp_bounds",
                      .doc = "input limited to min ... max, numbers or tensors; one of them may be absent.",
                      .inputs = {{"input"}, {"min", true}, {"max", true}},
                      .compose = clamp_compose,
                      .family = OpFamily::elementwise,
                      .number_inputs = 0b111,
                      .short_form = "clamp"};

// --- slice between positions ---

// The `slice` of scripts takes positions first to last, both included. The record of that name takes a start
// that counts from 0, and a length.
Operands slice_positions_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() == 0) fail("slice: a scalar tensor has no dims");
  const int dim = normalize_dim("slice", call.integer(0), x.shape());
  const int64_t size = x.size(dim), first = call.integer(1), step = call.integer(3);
  const int64_t last = call.params[2].present() ? call.integer(2) : -1;
  if (step < 1) fail("slice: a step of at least 1 expected (got ", step, ")");
  // Positions outside the dim are limited to it, as in PyTorch. The range is half-open.
  const int64_t from = std::clamp<int64_t>(first < 0 ? first + size : first, 0, size);
  const int64_t end = std::clamp<int64_t>(last < 0 ? last + size : last, -1, size - 1) + 1;
  // A step larger than the dim selects only the first position, as a step of the dim's size does.
  return {slice(x, dim, from, std::max(end, from), std::min(step, std::max<int64_t>(size, 1)))};
}
const Op kSlicePositions{.name = "_slice_positions",
                         .doc =
                             "The positions first to last of dim, both included and limited to the dim, step "
                             "apart.",
                         .inputs = {{"input"}},
                         .params = {{"dim", ParamKind::dim, {}},
                                    {"first", ParamKind::position, 0},
                                    {.name = "last", .kind = ParamKind::position, .optional = true},
                                    {"step", ParamKind::integer, 1}},
                         .compose = slice_positions_compose,
                         .complex = true,
                         .family = OpFamily::view,
                         .short_form = "slice"};

// --- reductions in another type ---

Operands in_type(const Call& call, const Op& op) {
  const Tensor& x = call.input(0);
  const Tensor cast = call.params[2].present() ? to(x, DType(call.integer(2))) : x;
  return apply(op, {cast}, {call.params[0], call.params[1]});
}
Operands sum_compose(const Call& call) {
  static const Op& op = *find_op("sum");
  return in_type(call, op);
}
Operands mean_compose(const Call& call) {
  static const Op& op = *find_op("mean");
  return in_type(call, op);
}
Operands prod_compose(const Call& call) {
  static const Op& op = *find_op("prod");
  return in_type(call, op);
}
const std::vector<ParamSpec> kReduceParams = {{.name = "dim", .kind = ParamKind::dims, .optional = true},
                                              {"keepdim", ParamKind::boolean, false},
                                              {.name = "dtype", .kind = ParamKind::dtype, .optional = true}};
const Op kSumDtype{
    .name = "_sum_dtype",
    .doc = "The sum over dim, or over all elements, computed in dtype; integers add up in i64.",
    .inputs = {{"input"}},
    .params = kReduceParams,
    .compose = sum_compose,
    .family = OpFamily::reduction,
    .short_form = "sum"};
const Op kMeanDtype{.name = "_mean_dtype",
                    .doc = "The mean over dim, or of all elements, computed in dtype.",
                    .inputs = {{"input"}},
                    .params = kReduceParams,
                    .compose = mean_compose,
                    .family = OpFamily::reduction,
                    .short_form = "mean"};
const Op kProdDtype{
    .name = "_prod_dtype",
    .doc = "The product over dim, or of all elements, computed in dtype; integers multiply in i64.",
    .inputs = {{"input"}},
    .params = kReduceParams,
    .compose = prod_compose,
    .family = OpFamily::reduction,
    .short_form = "prod"};

// --- isclose ---

void isclose_shape(Call& call) {
  const double rtol = call.real(0), atol = call.real(1);
  if (!(rtol >= 0 && atol >= 0))
    fail("isclose: rtol and atol must not be negative (got ", rtol, " and ", atol, ")");
  call.emit(broadcast_shapes("isclose", call.input(0).shape(), call.input(1).shape()), DType::boolean);
}
// Integers are compared in f64, so that differences do not overflow; with a complex other operand they are
// compared as complex numbers of its type. c128 exists only on the CPU, where c64 is compared with f64.
Operands isclose_compose(const Call& call) {
  const NoGrad off;
  Device& device = call.device();
  const DType first = call.input(0).dtype(), second = call.input(1).dtype();
  const bool in_c128 =
      promote(first, second) == DType::c128 && !call.input(0).is_number() && !call.input(1).is_number();
  const auto comparable = [&](const Tensor& x) {
    if (x.is_number()) return Tensor::number(x.item());
    const Tensor there = in_c128 ? to(x, cpu_device()) : x;
    return is_differentiable(x.dtype()) || is_complex(first) || is_complex(second) ? there
                                                                                   : to(there, DType::f64);
  };
  const Tensor a = comparable(call.input(0)), b = comparable(call.input(1));
  const Tensor distance = abs(a - b);
  // The bound of a number is computed as a number, not as a tensor: numbers have no dtype or device of their
  // own.
  const Tensor bound = b.is_number() ? Tensor::number(std::abs(b.item()) * call.real(0) + call.real(1))
                                     : abs(b) * call.real(0) + call.real(1);
  Tensor close = logical_and(isfinite(distance), le(distance, bound));
  close = logical_or(eq(a, b), close);
  const auto is_nan = [](const Tensor& x) {
    return x.is_number() ? Tensor::number(int64_t(std::isnan(x.item()))) : isnan(x);
  };
  if (call.flag(2)) close = logical_or(close, logical_and(is_nan(a), is_nan(b)));
  return {to(close, device)};
}
const Op kIsclose{.name = "isclose",
                  .doc = "Whether |input - other| <= atol + rtol |other|.",
                  .inputs = {{"input"}, {"other"}},
                  .params = {{"rtol", ParamKind::real, 1e-5},
                             {"atol", ParamKind::real, 1e-8},
                             {"equal_nan", ParamKind::boolean, false}},
                  .shape = isclose_shape,
                  .compose = isclose_compose,
                  .complex = true,
                  .family = OpFamily::elementwise,
                  .flops = {for_results<5>, "5 for each element of the result"},
                  .number_inputs = 0b11};

}  // namespace

Tensor run_form_in_place(const Op& form, Operands in, Values params) {
  Call call;
  call.op = &form;
  call.in = std::move(in);
  call.params = std::move(params);
  if (&form == &kAddAlpha) return scaled_sum(call, Row::add, 1, true)[0];
  if (&form == &kSubAlpha) return scaled_sum(call, Row::sub, -1, true)[0];
  if (&form == &kClampBounds) return clamp_between(call, true)[0];
  if (&form != &kDivRounding) return run_in_place(form, std::move(call.in), std::move(call.params));
  const Value& mode = call.params[0];
  if (!mode.present() || mode.i == 0) return apply_in_place(elementwise_op(Row::div), call.in);
  if (mode.i == kFloored) return apply_in_place(elementwise_op(Row::floor_divide), call.in);
  const Tensor& x = call.in[0];
  const Tensor quotient = div_compose(call)[0];
  if (is_floating(quotient.dtype()) && !is_floating(x.dtype()))
    fail("div_: a result of type ", quotient.dtype(), " cannot be written into a tensor of type ", x.dtype());
  if (!(quotient.shape() == x.shape()))
    fail("div_: a result of shape ", quotient.shape(), " does not fit the target of shape ", x.shape());
  return copy_(x, quotient);
}

Tensor isclose(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  return apply1(kIsclose, {a, b}, {rtol, atol, equal_nan});
}

std::span<const Op* const> arithmetic_ops() {
  static const Op* const ops[] = {&kAddAlpha, &kSubAlpha,  &kDivRounding, &kClampBounds, &kSlicePositions,
                                  &kSumDtype, &kMeanDtype, &kProdDtype,   &kIsclose};
  return ops;
}

}  // namespace lunagrad
