#pragma once
// Attention of 16-bit operands on matrix units (gpu/ops/nn/attention_units.glsl): the scores stay on chip.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Both return false and record nothing if the device has no matrix units for the type, or if the number of
// features is more than 128 or not a multiple of 8.
bool attention_on_units(const Call&, Recorder&);
bool attention_grad_on_units(const Call&, Recorder&);

}  // namespace lunagrad::gpu
