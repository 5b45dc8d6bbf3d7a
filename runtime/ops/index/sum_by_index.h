#pragma once
// Sums of rows by index: the gradients of ops that read by index (index.cpp).
#include "runtime/core/tensor.h"

namespace lunagrad {

// Zeros of this shape plus the slices of `rows`, each added at the position of `dim` (from 0) that the index
// names. The result has the dtype and device of `rows`. Differentiable. If the call is not recorded, the sums
// are written into the zeros without a copy.
Tensor sum_by_index(const Shape& shape, int dim, const Tensor& index, const Tensor& rows);

}  // namespace lunagrad
