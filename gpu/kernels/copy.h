#pragma once
// Copies on the device, of any strides and types: for clone, copy_, casts, cat and fills.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Whether copy() can convert between the types; f64 goes to f64 only.
bool can_copy(const Tensor& from, DType to);

// out = from, which is broadcast and may be a number. Does nothing if out has no elements.
void copy(const Tensor& out, const Tensor& from, Recorder&);

}  // namespace lunagrad::gpu
