#pragma once
// The strided copy that clone, contiguous, casts and joins use. Any thread; the thread pool shares large
// copies.
#include "runtime/core/dtype.h"
#include "runtime/core/shape.h"

namespace lunagrad {

// out[i] = in[i], converted, for every index i of `shape`. Strides are in elements; the input's strides may
// be 0. Input and output must not overlap.
void copy_strided(void* out, DType out_type, const Strides& out_strides, const void* in, DType in_type,
                  const Strides& in_strides, const Shape& shape);

// Copies a block of rows and columns on the calling thread. Row and column strides are in bytes.
using BlockCopy = void (*)(char* out, int64_t out_row, int64_t out_column, const char* in, int64_t in_row,
                           int64_t in_column, int64_t rows, int64_t columns);
BlockCopy block_copy(DType to, DType from);

}  // namespace lunagrad
