#pragma once
// Copies on the device, with any strides and types: behind clone, copy_, casts, joins and fills.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Whether copy() can convert between the types; f64 goes to f64 only.
bool can_copy(const Tensor& from, DType to);

// out = from, which broadcasts to it; `from` may be a number. Does nothing when out has no elements.
void copy(const Tensor& out, const Tensor& from, Recorder&);

}  // namespace lunagrad::gpu
