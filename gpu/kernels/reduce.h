#pragma once
// Sums for other kernels.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// out = the sum over dim 0 of parts [n, elements of out], added in order. Both are contiguous f32.
void add_parts(const Tensor& out, const Tensor& parts, Recorder&);

}  // namespace lunagrad::gpu
