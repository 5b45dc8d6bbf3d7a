#pragma once
// gather, with what follows it in the gradients of scatter_reduce, in one pass (positions.cpp).
#include "runtime/core/tensor.h"

namespace lunagrad {

// Of the shape and dtype of `other`, which has the shape of the index: 1 where it equals the element of x
// that gather() gives, else 0; and its product with that element. Floating-point tensors. Only the product is
// differentiable.
Tensor equals_gathered(const Tensor& x, int dim, const Tensor& index, const Tensor& other);
Tensor times_gathered(const Tensor& x, int dim, const Tensor& index, const Tensor& other);

}  // namespace lunagrad
