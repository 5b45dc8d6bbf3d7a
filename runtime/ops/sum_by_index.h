#pragma once
// Sums of rows by index, as gradients of ops that read by index are (index.cpp).
#include "runtime/tensor.h"

namespace lunagrad {

// Zeros of this shape plus the slices of `rows`, each added at the position of `dim` (from 0) that the index
// names. dtype and device are those of `rows`. Differentiable. Unless it is recorded, it writes into the
// zeros and copies nothing.
Tensor sum_by_index(const Shape& shape, int dim, const Tensor& index, const Tensor& rows);

}  // namespace lunagrad
