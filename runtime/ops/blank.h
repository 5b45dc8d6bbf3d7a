#pragma once
// Zeros for gradients that an op puts into a larger tensor. The thread of the tensors.
#include "runtime/ops.h"

namespace lunagrad {

// Zeros with the memory of one: for ops that copy this operand before they write, such as scatter. Whole
// zeros would be written and then copied.
inline Tensor blank(const Shape& shape, DType dtype, Device& device) {
  return expand(zeros({}, dtype, device), shape);
}

}  // namespace lunagrad
