#pragma once
// nll_loss on Vulkan devices.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

std::vector<KernelEntry> nll_kernels();

}  // namespace lunagrad::gpu
