#pragma once
// The innermost loops of convolution, direct sums over taps with SIMD. Inputs are unfolded (conv_tile.h), so
// that neighbouring outputs read neighbouring inputs; a block of outputs stays in registers until all its
// products are accumulated. Pure, any thread; T is float or double.
#include <cstdint>

namespace lunagrad {

constexpr int64_t kConvBlock = 8;  // output channels that are computed together

int64_t conv_lanes(bool f64);  // elements of a vector of the selected SIMD target

// A vector of neighbouring outputs: its offset in a channel of y and in a channel of the unfolded input.
struct ConvSpan {
  int64_t x, y;
};

// For r < rows <= kConvBlock and each span s, i < lanes:
//   y[r * y_stride + s.y + i] = bias[r] + sum over c < channels, k < taps of
//     weights[(c * taps + k) * width + r] * x[c * x_stride + offsets[k] + s.x + i]
// width is 1 or kConvBlock; bias and weights have `width` elements for any `rows`. bias may be null.
template <class T>
struct ConvSums {
  int64_t rows, width, channels, taps;
  const T *x, *weights, *bias;
  const int64_t* offsets;
  int64_t x_stride, y_stride;
  T* y;
  const ConvSpan* spans;
  int64_t span_count;
};
template <class T>
void conv_sums(const ConvSums<T>&);

// For r < rows <= kConvBlock and k < taps:
//   sums[r * sums_stride + k] += sum over pieces p and i < length of
//     g[p * g_piece + r * g_stride + i] * x[p * x_piece + offsets[k] + i]
// length is a multiple of conv_lanes().
template <class T>
struct ConvProducts {
  int64_t rows, taps, pieces, length;
  const T *g, *x;
  const int64_t* offsets;
  int64_t g_piece, g_stride, x_piece;
  T* sums;
  int64_t sums_stride;
};
template <class T>
void conv_products(const ConvProducts<T>&);

}  // namespace lunagrad
