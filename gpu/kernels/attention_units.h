#pragma once
// Attention of 16-bit operands on matrix units (gpu/shaders/attention_units.glsl): the scores stay on chip.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Both return false and record nothing if the device has no matrix units for the type, or if heads have more
// than 128 features or a number of them that is no multiple of 8.
bool attention_on_units(const Call&, Recorder&);
bool attention_grad_on_units(const Call&, Recorder&);

}  // namespace lunagrad::gpu
