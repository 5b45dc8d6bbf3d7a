#pragma once
// Zeros for gradients that an op puts into a larger tensor. For the tensors' thread.
#include "runtime/ops.h"

namespace lunagrad {

// Zeros that have the memory of one element: for ops such as scatter, which copy this operand before they
// write. A full tensor of zeros would be written and then copied.
inline Tensor blank(const Shape& shape, DType dtype, Device& device) {
  return expand(zeros({}, dtype, device), shape);
}

}  // namespace lunagrad
