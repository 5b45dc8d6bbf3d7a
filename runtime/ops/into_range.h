#pragma once
// For compositions whose sums of squares or products would leave the range of a type (cpu/range.h). For the
// tensors' thread.
#include "runtime/ops.h"

namespace lunagrad {

// For each row of x along dims a power of two, by which the row is multiplied before its elements are
// squared. It is 1 unless the elements are so large, or so small even beside an `eps` added to their squares,
// that the squares leave the range. x is floating or complex; the dims are kept with size 1. The factor
// counts as a constant.
Tensor factor_into_range(const Tensor& x, const Dims& dims, double eps = 0);

}  // namespace lunagrad
