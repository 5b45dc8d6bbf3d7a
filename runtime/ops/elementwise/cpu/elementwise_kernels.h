#pragma once
// The innermost loops of the elementwise rows, one per row, gradient and dtype. The floating-point loops are
// compiled for each SIMD target. Constant tables and pure functions, any thread.
#include <cstdint>

namespace lunagrad {

// Contiguous elements that one kernel call computes. Operands of a value kernel: a, b, c. Operands of a
// gradient kernel: g, the row's operands, y. A `step` of 0 repeats the first element of an operand; else it
// is 1. `out` may be the memory of an operand.
struct Stretch {
  const void* in[5];
  int64_t step[5];
  void* out;
  int64_t count;
  const double* params;
  // Results are written with non-temporal stores. Only floating-point kernels whose results have the
  // operands' type read this flag; `out` must then be a multiple of kStreamAlignment.
  bool past_caches = false;
};
inline constexpr uintptr_t kStreamAlignment = 64;
using StretchKernel = void (*)(const Stretch&);
// For a row with one operand and no parameters. A null kernel does nothing.
inline void run_in_place(StretchKernel kernel, void* elements, int64_t count) {
  if (kernel) kernel({.in = {elements}, .step = {1}, .out = elements, .count = count, .params = nullptr});
}

// Results of conditions are bool: bytes 0 and 1.
struct RowKernels {
  StretchKernel value[2];        // f32, f64; of complex numbers c64, c128
  StretchKernel gradient[3][2];  // for each operand
};
const RowKernels& row_kernels(int row);  // compiled for this processor's best SIMD target
// The kernels of all rows; null where the row belongs to another shard (elementwise_shard.h).
inline constexpr int kRowShards = 10;  // cmake/runtime.cmake reads it
template <int Shard>
const RowKernels* shard_kernels();

struct IntegerKernels {
  StretchKernel value[3];  // i32, i64, u8; null where the row computes floats
};
const IntegerKernels& integer_kernels(int row);

// A copy with non-temporal stores, which bypass the caches: for blocks much larger than the caches.
void copy_past_caches(void* out, const void* in, int64_t bytes);

}  // namespace lunagrad
