#pragma once
// The taps of pooling windows in an unfolded plane (conv_tile.h): a tap of output (row, column) is the
// element at offsets[tap] + row * row_length + column.
#include <cstdint>

namespace lunagrad {

struct PoolTaps {
  const int64_t* offsets;
  int64_t count, row_length, rows, columns;
};

}  // namespace lunagrad
