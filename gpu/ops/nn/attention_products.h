#pragma once
// Attention by matrix products, on matrix units for 16-bit operands and in f32, with separate kernels for the
// weights. Keeps only the scores of a part of the heads and of a block of queries at a time, in f32.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Both compute the call, or return false if there are no matrix units for a 16-bit type.
bool attention_by_products(const Call&, Recorder&);
bool attention_grad_by_products(const Call&, Recorder&);

}  // namespace lunagrad::gpu
