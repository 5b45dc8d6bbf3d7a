// The likely cause of a NaN or Inf: the usual causes in training code, each with its sentence.
#include <algorithm>

#include "runtime/tape/finite.h"

namespace lunagrad {
namespace {

constexpr double kLarge = 1e15;

bool among(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

// The entry of a value. Its count is 0 when the op has no such value, or did not save it.
Contents at(const std::vector<Contents>& list, size_t i) { return i < list.size() ? list[i] : Contents(); }

double largest(const std::vector<Contents>& list) {
  double size = 0;
  for (const Contents& c : list) size = std::max({size, -c.min, c.max});
  return size;
}

std::string overflow(const Suspect& s) {
  if (s.type == DType::f16 && s.result.infs)
    return "f16 ends at 65504: compute in bf16, or scale the loss with lg.optim.GradScaler";
  if (largest(s.operands) > kLarge)
    return "the operands are huge: the training has diverged; lower the learning rate or clip the gradients";
  return {};
}

std::string forward_hint(const Suspect& s) {
  const Contents x = at(s.operands, 0), second = at(s.operands, 1);
  for (const Contents& operand : s.operands)
    if (operand.nans)
      return "the NaN was there before any op: look at the data and at the weights that were loaded";
  if (among(s.op, {"log", "log2", "log10", "logit"})) {
    if (x.min < 0) return "the logarithm of a negative number is NaN: what should be positive is not";
    if (x.zeros)
      return "the logarithm of 0 is -Inf: add a small number or clamp(1e-8) before it; of a softmax, use "
             "log_softmax";
  }
  if (s.op == "log1p" && x.min <= -1) return "log1p is finite above -1 alone";
  if (among(s.op, {"div", "addcdiv"})) {
    const Contents divisor = s.op == "div" ? second : at(s.operands, 2);
    if (divisor.zeros && s.result.nans) return "0 / 0 is NaN: add a small number to the divisor";
    if (divisor.zeros) return "a number divided by 0 is Inf: add a small number to the divisor";
  }
  if (among(s.op, {"sqrt", "rsqrt"}) && x.min < 0)
    return "the root of a negative number is NaN: rounding can push a variance below 0; clamp(0) before it";
  if (among(s.op, {"rsqrt", "reciprocal"}) && x.zeros)
    return "a number divided by 0 is Inf: add a small number to it";
  if (among(s.op, {"exp", "exp2", "expm1", "sinh", "cosh"}) && s.result.infs)
    return "the exponential overflows (f32 above 88.7, f16 above 11): subtract the maximum, or use softmax "
           "or logsumexp";
  if (among(s.op, {"softmax", "log_softmax", "softmin", "scaled_dot_product_attention"}) && s.result.nans)
    return "a row is masked completely: all its scores are -Inf; let each row keep one, or mask with a large "
           "finite number";
  if (s.op == "pow") {
    if (x.min < 0 && s.result.nans)
      return "a negative number to a fractional power is NaN: take abs or square";
    if (x.zeros && second.min < 0) return "0 to a negative power is Inf: add a small number to the base";
  }
  if (among(s.op, {"add", "sub"}) && x.infs && second.infs)
    return "Inf - Inf is NaN: two infinite values met";
  if (s.op == "mul" && x.infs + second.infs && s.result.nans)
    return "0 * Inf is NaN: a mask that multiplies does not remove Inf; use where or masked_fill";
  if (among(s.op, {"asin", "acos", "atanh"}) && std::max(-x.min, x.max) >= 1)
    return "the function ends at -1 and 1: rounding can push a cosine beyond; clamp before it";
  if (s.op == "acosh" && x.min < 1) return "acosh begins at 1";
  if (among(s.op, {"var", "std", "mean"}) && s.result.nans)
    return "a mean of no elements, or a variance of one, is NaN: give it more, or {correction = 0}";
  if (s.op.starts_with("_") && s.op.ends_with("_step"))
    return "the optimizer's step itself overflowed: lower the learning rate or clip the gradients";
  return overflow(s);
}

std::string backward_hint(const Suspect& s) {
  for (const Contents& gradient : s.operands)
    if (gradient.nans) return "the gradient arrived with NaN: look at the seed of backward and at hooks";
  bool zero = false, one = false;
  for (const Contents& value : s.saved) {
    zero |= value.count && value.zeros > 0;
    one |= value.count && (value.min <= -1 || value.max >= 1);
  }
  if (among(s.op, {"sqrt", "norm", "vector_norm", "std"}) && zero)
    return "the derivative of the root at 0 is infinite: add a small number under the root";
  if (s.op == "pow" && zero)
    return "the derivative of a power below 1 is infinite at 0: add a small number to the base";
  if (among(s.op, {"log", "log2", "log10", "reciprocal", "div", "rsqrt"}))
    return "the derivative divides by a number so small that it overflows: clamp the operand before it, a "
           "where after it "
           "does not help";
  if (among(s.op, {"asin", "acos", "atanh", "acosh"}) && one)
    return "the derivative is infinite at the end of the function's domain: clamp a little inside";
  return overflow(s);
}

}  // namespace

std::string hint(const Suspect& suspect) {
  return suspect.backward ? backward_hint(suspect) : forward_hint(suspect);
}

}  // namespace lunagrad
