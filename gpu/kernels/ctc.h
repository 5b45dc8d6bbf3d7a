#pragma once
// The kernels of ctc_loss, a part of the losses' family.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

std::vector<KernelEntry> ctc_kernels();

}  // namespace lunagrad::gpu
