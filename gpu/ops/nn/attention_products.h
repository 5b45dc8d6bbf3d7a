#pragma once
// Attention by matrix products, on matrix units for 16-bit operands and in f32, with separate kernels for the
// weights. Keeps the scores of only a part of the heads at a time, in f32.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Both compute the call, or return false if there are no matrix units for a 16-bit type or if one head has
// too many scores.
bool attention_by_products(const Call&, Recorder&);
bool attention_grad_by_products(const Call&, Recorder&);

}  // namespace lunagrad::gpu
