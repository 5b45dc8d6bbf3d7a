#pragma once
// Resizing of images by nearest or linear interpolation, and the unfolding of images into columns of windows
// with its reverse; split over the engine's pool. T: float or double; tensors lie in order.
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/cpu/conv.h"

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
      {{{0, 0, 0}}, {{0, 0, 0}}, {{0, 0, 0}}}};  // the first is not blended

  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return int64_t(axes[0].size() * axes[1].size() * axes[2].size()); }
};

template <class T>
void resize(const ResizeGeometry&, const T* x, T* y);
// dx = the sum of g of all results that an element enters, times its weight in them.
template <class T>
void resize_spread(const ResizeGeometry&, const T* g, T* dx);

// columns[n, c * taps + tap, position] = the input that the tap meets there, 0 in the padding. Two spatial
// dims; the number of output channels does not matter.
template <class T>
void image_columns(const ConvGeometry&, const T* x, T* columns);
// x = the sum of all columns' elements that come from it.
template <class T>
void column_images(const ConvGeometry&, const T* columns, T* x);

}  // namespace lunagrad
