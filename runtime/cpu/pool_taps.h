#pragma once
// The taps of windows side by side in an unfolded plane (conv_tile.h), for the kernels of pooling: that of
// output (row, column) lies at offsets[tap] + row * row_length + column.
#include <cstdint>

namespace lunagrad {

struct PoolTaps {
  const int64_t* offsets;
  int64_t count, row_length, rows, columns;
};

}  // namespace lunagrad
