#pragma once
// The sum of the ops that add a product: addmm, baddbmm, addbmm, addmv, addr (matmul.cpp). Any thread.
#include "runtime/core/tensor.h"

namespace lunagrad {

// beta input + product. With beta 0 the values of input do not count, NaN included, and its gradient is 0.
Tensor plus_scaled(const Tensor& input, double beta, const Tensor& product);

}  // namespace lunagrad
