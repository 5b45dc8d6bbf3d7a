#pragma once
// Products of other types than the floats that matmul.cpp multiplies itself.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Of c64: products of real matrices of twice the size (shaders/matmul_complex.comp).
void run_complex_matmul(const Call&, Recorder&);
void run_complex_linear(const Call&, Recorder&);

// Of integers, which wrap around.
void run_integer_matmul(const Call&, Recorder&);

}  // namespace lunagrad::gpu
