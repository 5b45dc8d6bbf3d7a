#pragma once
// Convolutions of groups with few channels (shaders/depthwise.comp): of f32 and 16-bit types.
#include "gpu/kernels.h"
#include "runtime/ops/conv_geometry.h"

namespace lunagrad::gpu {

// Computes the call; false if the groups have many channels or the window is too large.
bool convolve_depthwise(const Call&, ConvPart, const ConvGeometry&, Recorder&);

}  // namespace lunagrad::gpu
