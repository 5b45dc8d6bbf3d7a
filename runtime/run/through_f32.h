#pragma once
// Calls with 16-bit operands of ops that compute them in f32 (Op::half_through_f32). For the tensors' thread.
#include <algorithm>

#include "runtime/core/op.h"

namespace lunagrad {

// Whether the device has a kernel of the op for the call's 16-bit operands, all of one type.
bool has_16bit_kernel(const Call&);

// Whether the call's 16-bit operands are to be cast to f32.
inline bool goes_through_f32(const Call& call) {
  if (!call.op->half_through_f32) return false;
  const bool has_16bit_operand = std::any_of(call.in.begin(), call.in.end(), [](const Tensor& x) {
    return x.defined() && is_16bit_float(x.dtype());
  });
  return has_16bit_operand && !has_16bit_kernel(call);
}

// Casts 16-bit operands to f32, runs the op, and casts its f32 results to the operands' type.
void run_through_f32(Call&);

}  // namespace lunagrad
