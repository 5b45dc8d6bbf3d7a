#pragma once
// Kernels that scripts define (lg.kernel). A kernel is compiled once for each name and text, for the life of
// the process. Any thread.
#include "gpu/context.h"
#include "runtime/user_kernel.h"

namespace lunagrad::gpu {

// The number of the kernel, for the parameter kKernelNumber of its op. Error if the text does not compile or
// the device does not support the work group or a type.
int64_t compile_user_kernel(const KernelSource&, const PhysicalDevice&);

}  // namespace lunagrad::gpu
