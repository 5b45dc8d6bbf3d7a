#pragma once
// Resizing of images with nearest or linear interpolation, and im2col with its inverse. The thread pool
// shares the work. T: float or double; tensors are contiguous.
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/ops/nn/cpu/conv_sizes.h"

namespace lunagrad {

// Result i along an axis is (1 - weight) * element `low` + weight * element `high`.
struct ResizeTap {
  int64_t low, high;
  double weight;
};
struct ResizeGeometry {
  int64_t planes = 1;
  std::array<int64_t, 3> in{1, 1, 1};
  std::array<std::vector<ResizeTap>, 3> axes{
      {{{0, 0, 0}}, {{0, 0, 0}}, {{0, 0, 0}}}};  // the first axis is not interpolated

  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return int64_t(axes[0].size() * axes[1].size() * axes[2].size()); }
};

template <class T>
void resize(const ResizeGeometry&, const T* x, T* y);
// dx = for each element the sum of g times the element's weight, over the results that it contributes to.
template <class T>
void resize_spread(const ResizeGeometry&, const T* g, T* dx);

// im2col: columns[n, c * taps + tap, position] = the input of that tap, 0 in the padding. Two spatial dims;
// the number of output channels is ignored.
template <class T>
void image_columns(const ConvGeometry&, const T* x, T* columns);
// col2im: x = for each element the sum of the elements of the columns that image_columns() copies from it.
template <class T>
void column_images(const ConvGeometry&, const T* columns, T* x);

}  // namespace lunagrad
