#pragma once
// Attention of 16-bit operands by matrix products on matrix units, with kernels for the weights between them.
// The scores of a part of the heads are kept at a time, in f32.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Each computes the call; false if there are no matrix units for the type, or one head has too many scores.
bool attention_by_products(const Call&, Recorder&);
bool attention_grad_by_products(const Call&, Recorder&);

}  // namespace lunagrad::gpu
