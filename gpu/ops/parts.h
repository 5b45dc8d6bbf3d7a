#pragma once
// Calls with more elements than kernels count (most_elements()) run as several smaller calls: on slices of
// the results where the kernel says which operands a slice needs (Kernel::slice), or as the kernel says
// (Kernel::run_large). So no shader counts in 64 bits, which would slow down all other calls.
#include <string>

#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Whether the call is too large for the kernel, and the kernel supports its parts.
bool runs_in_parts(const Kernel&, const Call&);
void run_in_parts(const Kernel&, const Call&, Recorder&);
// Runs the kernel of a call that is supported, in parts if it is too large.
void run_call(const Call&, Recorder&);

// Kernel::slice of ops whose results' element i depends on element i of the broadcast operands alone.
bool slice_pointwise(Call&, int dim, int64_t first, int64_t size);

// Calls run(first, size) for both halves of `size` positions.
template <class Run>
void in_halves(int64_t size, Run&& run) {
  run(int64_t(0), size / 2);
  run(size / 2, size - size / 2);
}

// Why the device leaves a call to the CPU, if it would take the call with fewer elements; else an empty text.
std::string too_many_elements(const Kernel&, const Call&);

}  // namespace lunagrad::gpu
