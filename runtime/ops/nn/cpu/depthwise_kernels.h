#pragma once
// The innermost loops of convolutions with one channel in each group, over tiles whose positions are blocks
// of kChannelBlock neighbouring channels. Offsets and steps count elements. Pure, any thread; T is float or
// double.
#include <cstdint>

namespace lunagrad {

// For r < rows, i < columns, c < kChannelBlock:
//   y[r * y_row + i * y_column + c] = bias[c] + sum over k < taps of
//     weights[k * kChannelBlock + c] * x[r * x_row + i * x_column + offsets[k] + c]
template <class T>
struct DepthwiseSums {
  int64_t rows, columns, taps;
  const int64_t* offsets;
  const T *x, *weights, *bias;
  int64_t x_row, x_column;
  T* y;
  int64_t y_row, y_column;
};
template <class T>
void depthwise_sums(const DepthwiseSums<T>&);

// For k < taps, c < kChannelBlock:
//   sums[k * kChannelBlock + c] += sum over r < rows, i < columns of
//     g[(r * columns + i) * kChannelBlock + c] * x[r * x_row + i * x_column + offsets[k] + c]
template <class T>
struct DepthwiseProducts {
  int64_t rows, columns, taps;
  const int64_t* offsets;
  const T *x, *g;
  int64_t x_row, x_column;
  T* sums;
};
template <class T>
void depthwise_products(const DepthwiseProducts<T>&);

}  // namespace lunagrad
