#pragma once
// The type of floating-point tensors that are made without a type, and of integers that meet a fractional
// number. Each thread has its own.
#include "runtime/dtype.h"

namespace lunagrad {

DType default_dtype();  // f32 at first
// The same, or f32 where it has 16 bits: for what is computed more exactly.
inline DType wide_default_dtype() { return is_half(default_dtype()) ? DType::f32 : default_dtype(); }
// Error when the type is no floating-point type.
void set_default_dtype(DType);

}  // namespace lunagrad
