#include "runtime/ops/into_range.h"

#include "runtime/cpu/range.h"

namespace lunagrad {
namespace {

template <class T>
Tensor factor_for(const Tensor& largest, double eps) {
  using Range = SquareRange<T>;
  const auto number = [](double x) { return Tensor::number(x); };
  // The squares of numbers between these limits stay in range, also when many are added.
  constexpr double kLarge = Range::kSingle ? 0x1p40 : 0x1p400, kSmall = 1 / kLarge;
  const Tensor one = ones({}, largest.dtype(), largest.device());
  const Tensor small =
      eps >= Range::kLeast ? one : where(lt(largest, number(kSmall)), number(double(Range::kUp)), one);
  return where(gt(largest, number(kLarge)), number(double(Range::kDown)), small);
}

}  // namespace

Tensor factor_into_range(const Tensor& x, const Dims& dims, double eps) {
  const NoGrad off;
  const Tensor sizes = abs(x.detach());
  const Tensor largest = x.numel() == 0 ? sum(sizes, dims, true) : amax(sizes, dims, true);
  return largest.dtype() == DType::f64 ? factor_for<double>(largest, eps) : factor_for<float>(largest, eps);
}

}  // namespace lunagrad
