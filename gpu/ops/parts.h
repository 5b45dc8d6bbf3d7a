#pragma once
// Calls with more elements than kernels count (most_elements()): elementwise ops, casts, copies and fills run
// on halves of the result, reductions on halves of the result or of the elements, until each half has few
// enough elements. So no shader counts in 64 bits, which would slow down all other calls.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Whether the call is too large for the kernel, and the kernel supports its parts.
bool runs_in_parts(const Kernel&, const Call&);
void run_in_parts(const Kernel&, const Call&, Recorder&);

// Why the device leaves a call to the CPU: "the device has no kernel for tensors of 2147483648 elements or
// more" if it would take the call otherwise, else an empty text.
std::string too_many_elements(const Kernel&, const Call&);

}  // namespace lunagrad::gpu
