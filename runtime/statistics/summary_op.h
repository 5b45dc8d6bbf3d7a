#pragma once
// The op that summarizes tensors on their device. Constant: any thread.
#include "runtime/core/op.h"

namespace lunagrad {

// The record _summary, which is not in all_ops(). Its result f32 [operands, 8] has a row for each operand:
// [sum / m, sum of squares / m^2, min, max, zeros, NaN, Inf, sum of magnitudes / m]. The sums, min and max
// are over the finite elements; m is their largest magnitude, or 1.
const Op& summary_op();

}  // namespace lunagrad
