#pragma once
// Packs an operand of a bf16 product into tiles (bf16_kernels.h), compiled for each SIMD target. Pure, any
// thread.
#include <cstdint>

namespace lunagrad {

// The rows of A or the columns of B: `count` lines of `terms` numbers. The strides, in elements, are
// arbitrary.
struct Bf16Lines {
  const uint16_t* data;
  int64_t count, terms;
  int64_t line_stride, term_stride;
  // If not null: the offset of each line (term_stride 1) or of each term (line_stride 1), instead of a
  // stride.
  const int64_t* offsets = nullptr;
};

// Packs 32 lines from line `line` on as two panels of `tiles` tiles, from term `term` on; numbers beyond the
// lines and terms are 0. The second panel begins `panel` words after the first. A tile has 16 lines of 16
// pairs of terms; `turned` (for B) it has 16 pairs of 16 lines.
void pack_panels(const Bf16Lines&, bool turned, int64_t line, int64_t term, int64_t tiles, int64_t panel,
                 uint32_t* to);

}  // namespace lunagrad
