#pragma once
// c64 tensors as kernels for real numbers see them. Pure values, but for run_by_parts.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// The real (0) or imaginary (1) parts: every second f32 of the same memory.
Tensor part_view(const Tensor& z, int part);

// Elements in order as twice as many f32; a tensor of another type itself.
Tensor parts_in_a_row(const Tensor& z);

// Runs an op that is linear in each of its first two operands, and adds a third if there is one, by its
// kernel for real numbers: (a + ib) * (c + id) = (a * c - b * d) + i (a * d + b * c).
void run_by_parts(const Call&, void (*real)(const Call&, Recorder&), Recorder&);

}  // namespace lunagrad::gpu
