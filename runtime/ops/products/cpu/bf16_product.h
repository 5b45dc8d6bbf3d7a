#pragma once
// Products of bf16 matrices with f32 sums, which are rounded once: packs both operands into tiles and divides
// the product into blocks for the engine's threads. The order of each sum depends on its length alone. A
// request to stop takes effect within 20 ms. Any thread may call.
#include <cstdint>

#include "runtime/core/dtype.h"
#include "runtime/core/shape.h"
#include "runtime/ops/products/cpu/bf16_kernels.h"

namespace lunagrad {

// An operand. Its strides, in elements, are arbitrary.
struct Bf16Matrix {
  const BFloat16* data;
  int64_t row_stride, column_stride;
};

// C[i] = A[i] B[i] + bias for every item of a batch: A [m, k], B [k, n], C [m, n] contiguous. bias is [n],
// added to each row; null: none. a_strides and b_strides are the strides between items in elements, 0 where
// an item is reused.
struct Bf16Products {
  int64_t m, n, k;
  Bf16Matrix a, b;
  BFloat16* c;
  const BFloat16* bias = nullptr;
  Dims batch;
  Dims a_strides, b_strides;
};
void multiply(const Bf16Products&, const Bf16Kernel&);

}  // namespace lunagrad
