#pragma once
// Matrix products of types that matmul.cpp does not compute itself.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// c64: products of real matrices of twice the size (gpu/ops/products/matmul_complex.comp).
void run_complex_matmul(const Call&, Recorder&);
void run_complex_linear(const Call&, Recorder&);

// Integers. Sums wrap around.
void run_integer_matmul(const Call&, Recorder&);

}  // namespace lunagrad::gpu
