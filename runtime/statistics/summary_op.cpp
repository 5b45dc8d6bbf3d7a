#include "runtime/statistics/summary_op.h"

#include "runtime/ops.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

void summary_shape(Call& call) {
  for (const Tensor& x : call.in)
    if (!is_floating(x.dtype()) || x.numel() == 0)
      fail("_summary: operands must be floating and hold something (got ", x.dtype(), ' ', x.shape(), ")");
  call.emit(Shape{int64_t(call.in.size()), 8}, DType::f32);
}

Tensor row_of(const Tensor& given) {
  const auto count = [](const Tensor& truth) { return sum(to(truth, DType::f32)); };
  const Tensor x = given.dtype() == DType::f64 ? given : to(given, DType::f32), finite = isfinite(x);
  const Tensor values = where(finite, x, zeros_like(x)), magnitudes = abs(values), largest = amax(magnitudes);
  const Tensor scale = where(gt(largest, zeros_like(largest)), largest, ones_like(largest));
  // Elements that are not finite are replaced by m (for the maximum by -m), which does not change the result.
  const Tensor least = amin(where(finite, x, scale)), most = amax(where(finite, x, neg(scale)));
  const Tensor any = gt(count(finite), zeros({}, DType::f32, x.device()));
  const auto or_zero = [&](const Tensor& extreme) { return where(any, extreme, zeros_like(extreme)); };
  TensorList numbers = {sum(values / scale), sum(square(values / scale)), or_zero(least),
                        or_zero(most),       count(eq(x, zeros_like(x))), count(isnan(x)),
                        count(isinf(x)),     sum(magnitudes / scale)};
  for (Tensor& number : numbers) number = to(number, DType::f32);
  return stack(numbers);
}

Operands summary_compose(const Call& call) {
  TensorList rows;
  for (const Tensor& x : call.in) rows.push_back(row_of(x));
  return {stack(rows)};
}

}  // namespace

const Op& summary_op() {
  static const Op op{.name = "_summary",
                     .doc = "Norm, extremes, zeros and what is not finite of each operand.",
                     .inputs = {{"tensors", false, true}},
                     .shape = summary_shape,
                     .compose = summary_compose,
                     .family = OpFamily::reduction,
                     .flops = {for_input<1>, "1 for each element of the operand"}};
  return op;
}

}  // namespace lunagrad
