#pragma once
// The innermost loops of the elementwise rows, one per row, gradient and type; those of floats compiled for
// each SIMD target. Constant tables and pure functions, any thread.
#include <cstdint>

namespace lunagrad {

// One stretch of elements. Operands: of a value a, b, c; of a gradient g, then the row's operands, then y.
// `step` 1 walks along, 0 repeats the first element. `out` may be the same stretch as an operand.
struct Stretch {
  const void* in[5];
  int64_t step[5];
  void* out;
  int64_t count;
  const double* params;
};
using StretchKernel = void (*)(const Stretch&);
// Of a row of one operand and no parameters; null does nothing.
inline void run_in_place(StretchKernel kernel, void* elements, int64_t count) {
  if (kernel) kernel({.in = {elements}, .step = {1}, .out = elements, .count = count, .params = nullptr});
}

// Conditions are written as bytes 0 and 1.
struct RowKernels {
  StretchKernel value[2];        // f32, f64
  StretchKernel gradient[3][2];  // of each operand
};
const RowKernels& row_kernels(int row);  // of the best target of this processor

struct IntegerKernels {
  StretchKernel value[3];  // i32, i64, u8; null where the row computes floats
};
const IntegerKernels& integer_kernels(int row);

// A copy that leaves the caches alone; for blocks much bigger than they are.
void copy_past_caches(void* out, const void* in, int64_t bytes);

}  // namespace lunagrad
