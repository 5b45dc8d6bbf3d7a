#pragma once
// col2im for other kernels. Thread: the recorder's.
#include "gpu/ops/kernels.h"
#include "runtime/ops/nn/cpu/conv_sizes.h"

namespace lunagrad::gpu {

// Sets each element of `image` [planes, in...] to the sum of the elements of `columns` [planes, kernel...,
// out...] that im2col copies from it, in the order of the windows. Both are contiguous, f32 and indexable();
// the numbers of the geometry are below 2^30.
void add_columns(const Tensor& columns, const ConvGeometry&, const Tensor& image, Recorder&);

}  // namespace lunagrad::gpu
