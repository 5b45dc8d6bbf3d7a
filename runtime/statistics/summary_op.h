#pragma once
// The op that summarizes tensors on their device. Constant: any thread.
#include "runtime/op.h"

namespace lunagrad {

// The record _summary, which is not in all_ops(). Its result f32 [operands, 8] has a row for each operand:
// [sum / m, sum of squares / m^2, min, max, zeros, NaN, Inf, sum of magnitudes / m], of the finite elements,
// with m the largest magnitude among them or 1.
const Op& summary_op();

}  // namespace lunagrad
