#pragma once
// The innermost loops of the elementwise rows, one per row, gradient and dtype. The floating-point loops are
// compiled for each SIMD target. Constant tables and pure functions, any thread.
#include <cstdint>

namespace lunagrad {

// Contiguous elements that one kernel call computes. Operands of a value: a, b, c. Operands of a gradient: g,
// the row's operands, y. A `step` of 0 repeats the first element of an operand; else it is 1. `out` may be
// the memory of an operand.
struct Stretch {
  const void* in[5];
  int64_t step[5];
  void* out;
  int64_t count;
  const double* params;
  // Results are written with non-temporal stores. Only floating-point kernels with results of the operands'
  // type look at it; `out` is then a multiple of kStreamAlignment.
  bool past_caches = false;
};
inline constexpr uintptr_t kStreamAlignment = 64;
using StretchKernel = void (*)(const Stretch&);
// For a row with one operand and no parameters. A null kernel does nothing.
inline void run_in_place(StretchKernel kernel, void* elements, int64_t count) {
  if (kernel) kernel({.in = {elements}, .step = {1}, .out = elements, .count = count, .params = nullptr});
}

// Conditions give bool: bytes 0 and 1.
struct RowKernels {
  StretchKernel value[2];        // f32, f64
  StretchKernel gradient[3][2];  // of each operand
};
const RowKernels& row_kernels(int row);  // compiled for the best SIMD target of this processor

struct IntegerKernels {
  StretchKernel value[3];  // i32, i64, u8; null where the row computes floats
};
const IntegerKernels& integer_kernels(int row);

// A copy with non-temporal stores, which bypass the caches: for blocks much larger than the caches.
void copy_past_caches(void* out, const void* in, int64_t bytes);

}  // namespace lunagrad
