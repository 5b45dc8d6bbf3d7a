#pragma once
// The dtype of floating-point tensors that are made without a dtype, and of the result when an integer tensor
// meets a fractional number. Each thread has its own.
#include "runtime/core/dtype.h"

namespace lunagrad {

DType default_dtype();  // f32 at first
// The default dtype, or f32 if it has 16 bits: for results that need more precision.
inline DType wide_default_dtype() { return is_16bit_float(default_dtype()) ? DType::f32 : default_dtype(); }
// Error when the type is not a floating-point type.
void set_default_dtype(DType);

}  // namespace lunagrad
