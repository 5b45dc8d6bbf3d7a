#pragma once
// The dtype of floating-point tensors that are made without a dtype, and of the result when an integer tensor
// meets a fractional number. Each thread has its own.
#include "runtime/core/dtype.h"

namespace lunagrad {

DType default_dtype();  // f32 at first
// Error when the type is not a floating-point type.
void set_default_dtype(DType);

}  // namespace lunagrad
