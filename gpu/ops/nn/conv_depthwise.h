#pragma once
// Convolutions of groups with few channels (gpu/ops/nn/depthwise.comp), for f32 and 16-bit floats.
#include "gpu/ops/kernels.h"
#include "runtime/ops/nn/conv_geometry.h"

namespace lunagrad::gpu {

// Computes the call. Returns false if the groups have many channels or the window is too large.
bool convolve_depthwise(const Call&, ConvPart, const ConvGeometry&, Recorder&);

}  // namespace lunagrad::gpu
