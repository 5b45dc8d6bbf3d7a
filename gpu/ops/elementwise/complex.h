#pragma once
// Views of c64 tensors for kernels of real numbers. No memory is copied, except by run_by_parts().
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// The real (part = 0) or imaginary (part = 1) parts: a strided f32 view of the same memory.
Tensor part_view(const Tensor& z, int part);

// A contiguous c64 tensor as a vector of twice as many f32. Returns tensors of other types unchanged.
Tensor parts_in_a_row(const Tensor& z);

// Runs an op by its kernel for real numbers: (a + ib) * (c + id) = (a * c - b * d) + i (a * d + b * c). The
// op must be linear in each of its first two operands, and may add a third one.
void run_by_parts(const Call&, void (*real)(const Call&, Recorder&), Recorder&);

}  // namespace lunagrad::gpu
