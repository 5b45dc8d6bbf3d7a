#pragma once
// Convolutions of groups with few channels (shaders/depthwise.comp), for f32 and 16-bit floats.
#include "gpu/kernels.h"
#include "runtime/ops/conv_geometry.h"

namespace lunagrad::gpu {

// Computes the call. Returns false if the groups have many channels or the window is too large.
bool convolve_depthwise(const Call&, ConvPart, const ConvGeometry&, Recorder&);

}  // namespace lunagrad::gpu
