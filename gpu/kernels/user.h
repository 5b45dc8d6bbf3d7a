#pragma once
// Kernels of the user's own, compiled for the life of the process: the same text of the same name once.
#include "gpu/context.h"
#include "runtime/user_kernel.h"

namespace lunagrad::gpu {

int64_t compile_user_kernel(const KernelSource&, const PhysicalDevice&);

}  // namespace lunagrad::gpu
