#pragma once
// The type of floating-point tensors that are made without a type, and of integers that meet a fractional
// number. Each thread has its own.
#include "runtime/dtype.h"

namespace lunagrad {

DType default_dtype();  // f32 at first
// Error when the type is no floating-point type.
void set_default_dtype(DType);

}  // namespace lunagrad
