#pragma once
// Shared by the products and convolutions of bf16: operands packed as panels of tiles, and blocks of sums.
// Any thread; the caller owns the memory.
#include <cstdint>

#include "runtime/ops/products/cpu/bf16_kernels.h"
#include "runtime/ops/products/cpu/bf16_pack.h"

namespace lunagrad {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t tiles_of(int64_t terms) { return ceil_div(terms, kTileTerms); }
// `size` rows or columns, rounded up to full calls of a kernel.
inline int64_t padded(int64_t size) { return ceil_div(size, kKernelSide) * kKernelSide; }
// Words of a packed operand: an even number of panels, each with all terms.
inline int64_t packed_words(int64_t lines, int64_t terms) {
  return padded(lines) / kTileSide * tiles_of(terms) * kTileWords;
}

// Packs all lines, on all threads.
void pack_operand(const Bf16Lines&, bool turned, uint32_t* to);

// Begins and ends the kernel's state on this thread.
class KernelScope {
 public:
  explicit KernelScope(const Bf16Kernel& kernel) : kernel_(kernel) { kernel_.begin(); }
  ~KernelScope() { kernel_.end(); }
  KernelScope(const KernelScope&) = delete;

 private:
  const Bf16Kernel& kernel_;
};

// sums = A B, or sums += A B with `add`, for `rows` rows of A and `columns` columns of B. Both are packed
// with `terms` terms; rows and columns are filled up to multiples of 32, also in sums [rows, columns], which
// has `step` elements from row to row. Needs a KernelScope. Checks for a request to stop every few ms.
void multiply_packed(const Bf16Kernel&, int64_t rows, int64_t columns, int64_t terms, const uint32_t* a,
                     const uint32_t* b, bool add, float* sums, int64_t step);

}  // namespace lunagrad
