#pragma once
// What the files of losses share: the parameter `reduction`, what it does, and the check of the target's
// shape. Any thread.
#include "runtime/ops.h"

namespace lunagrad {

inline const ParamSpec kReduction{
    "reduction", ParamKind::choice, int(Reduction::mean), {"none", "mean", "sum"}};

inline Reduction reduction_of(const Call& call, int at = 0) { return Reduction(call.integer(at)); }

inline Tensor reduced(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::mean ? mean(loss) : sum(loss);
}

// Broadcasting would turn (4, 1) against (4) into 16 losses.
inline void need_same_shape(const char* op, const Tensor& input, const Tensor& target) {
  if (!(input.shape() == target.shape()))
    fail(op, ": input has shape ", input.shape(), " and target ", target.shape(), "; they must be the same");
}

}  // namespace lunagrad
