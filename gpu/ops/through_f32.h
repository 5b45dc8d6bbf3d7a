#pragma once
// 16-bit operands of kernels that compute in f32.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Whether all operands have the same type, which is f32, f16 or bf16.
bool have_one_float_type(const Call&);

// Converts 16-bit operands to f32, runs the call, and rounds the results.
void run_in_f32(const Call&, void (*run)(const Call&, Recorder&), Recorder&);

}  // namespace lunagrad::gpu
