#pragma once
// Transposes a block of a matrix. The block should fit into the first-level cache. Any thread.
#include <cstdint>

namespace lunagrad {

// out[r * out_row + c * item] = in[r * item + c * in_column] for r < rows, c < columns; strides in bytes,
// items of 1, 2, 4, 8 or 16 bytes. `in` and `out` must not overlap.
void transpose_block(void* out, int64_t out_row, const void* in, int64_t in_column, int64_t rows,
                     int64_t columns, int64_t item);

}  // namespace lunagrad
