#pragma once
// For compositions whose sums of squares or products would leave the range of a type (cpu/range.h). For the
// thread of the tensors.
#include "runtime/ops.h"

namespace lunagrad {

// For each row of a floating or complex x along dims, kept as dims of size 1, a power of two: 1, unless the
// row has numbers so large or, if `eps` is added to their squares, so small that it must be multiplied by it
// before they are squared. It counts as a constant.
Tensor factor_into_range(const Tensor& x, const Dims& dims, double eps = 0);

}  // namespace lunagrad
