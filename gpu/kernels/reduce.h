#pragma once
// Sums that other kernels need.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// out = the sum of parts [n, elements of out] over n, in order of n; both f32, out in order.
void add_parts(const Tensor& out, const Tensor& parts, Recorder&);

}  // namespace lunagrad::gpu
