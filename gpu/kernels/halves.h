#pragma once
// 16-bit operands of kernels that compute in f32.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Whether all operands have one type of f32, f16 and bf16.
bool have_one_float_type(const Call&);

// Runs the call with its 16-bit operands and results converted to f32, and rounds the results.
void run_in_f32(const Call&, void (*run)(const Call&, Recorder&), Recorder&);

}  // namespace lunagrad::gpu
