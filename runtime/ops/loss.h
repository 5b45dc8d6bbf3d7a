#pragma once
// What the loss files share: the parameter `reduction`, its effect, and the check of the target's shape. Any
// thread.
#include "runtime/ops.h"

namespace lunagrad {

inline const ParamSpec kReduction{
    "reduction", ParamKind::choice, int(Reduction::mean), {"none", "mean", "sum"}};

inline Reduction reduction_of(const Call& call, int at = 0) { return Reduction(call.integer(at)); }

inline Tensor reduced(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::mean ? mean(loss) : sum(loss);
}

// Broadcasting would make 16 losses of shapes (4, 1) and (4).
inline void need_same_shape(const char* op, const Tensor& input, const Tensor& target) {
  if (!(input.shape() == target.shape()))
    fail(op, ": input has shape ", input.shape(), " and target ", target.shape(), "; they must be the same");
}

}  // namespace lunagrad
