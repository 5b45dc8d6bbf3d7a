#pragma once
// Kernels that scripts define (lg.kernel). Each name and text is compiled once in the life of the process.
// Any thread.
#include "gpu/vulkan/context.h"
#include "runtime/core/user_kernel.h"

namespace lunagrad::gpu {

// Returns the kernel's number, for the parameter kKernelNumber of its op. Throws an Error if the text does
// not compile, or if the device does not support the workgroup or a type.
int64_t compile_user_kernel(const KernelSource&, const PhysicalDevice&);

}  // namespace lunagrad::gpu
