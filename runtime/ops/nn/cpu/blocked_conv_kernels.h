#pragma once
// The innermost loops of convolution over blocked images (blocked_conv.h). A position of an image is a block
// of kChannelBlock neighbouring channels, and vectors hold output channels. Pure, any thread; T is float or
// double.
#include <cstdint>

namespace lunagrad {

constexpr int64_t kChannelBlock = 16;

int64_t blocked_columns(bool f64);  // output channels whose sums are computed together

// For r < rows and j < blocked_columns():
//   y[r, j] += sum over c < channels of x[c / kChannelBlock * x_block + r * kChannelBlock + c %
//   kChannelBlock]
//              * weights[c, j]
// in the order of c. Rows of y and weights are contiguous.
template <class T>
struct BlockedSums {
  int64_t rows, channels;
  const T* x;
  int64_t x_block;
  const T* weights;
  T* y;
};
template <class T>
void blocked_sums(const BlockedSums<T>&);

// A run of positions that are neighbours in both images.
struct BlockedRun {
  int64_t x, g, count;
};

// For c < kChannelBlock and j < columns, a multiple of kChannelBlock:
//   sums[c * sums_step + j] += sum over the runs' positions i of
//     x[(run.x + i) * kChannelBlock + c] * g[j / kChannelBlock * g_block + (run.g + i) * kChannelBlock
//                                           + j % kChannelBlock]
template <class T>
struct BlockedProducts {
  const BlockedRun* runs;
  int64_t run_count, columns;
  const T *x, *g;
  int64_t g_block;
  T* sums;
  int64_t sums_step;
};
template <class T>
void blocked_products(const BlockedProducts<T>&);

}  // namespace lunagrad
