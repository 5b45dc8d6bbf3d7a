#pragma once
// Sums for other kernels.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// out = the sum over dim 0 of parts [n, elements of out], added in order. Both are contiguous; parts are f32,
// and out is f32 or of 16 bits, to which the sum is rounded once.
void add_parts(const Tensor& out, const Tensor& parts, Recorder&);

}  // namespace lunagrad::gpu
