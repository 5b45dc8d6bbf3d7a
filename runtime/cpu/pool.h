#pragma once
// Pooling of planes of rows x columns that lie in order, split over the engine's pool. Windows are given one
// by one along each axis, so that padding, dilation, ceil_mode and adaptive sizes are all the same to the
// kernels. T: float or double.
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/cpu/conv.h"

namespace lunagrad {

// The elements of a window inside the axis, and what their sum is divided by in an average.
struct PoolWindow {
  int64_t start, count, divisor;
};
struct PoolAxis {
  int64_t size = 1;      // of the input
  int64_t dilation = 1;  // distance of a window's elements
  std::vector<PoolWindow> windows{{0, 1, 1}};

  int64_t out() const { return int64_t(windows.size()); }
};
struct PoolGeometry {
  int64_t planes = 1;
  PoolAxis rows, columns;
  int64_t divisor = 0;  // of every window; 0: the product of the axes' divisors
  std::optional<ConvGeometry>
      kernel;  // of one plane, where all windows have the same elements and a fixed distance

  int64_t in_size() const { return rows.size * columns.size; }
  int64_t out_size() const { return rows.out() * columns.out(); }
};

// Max pooling finds the element that a window takes anew from the input wherever it is needed, so nothing is
// kept for the gradient: the first of the largest, or the last NaN; none where a window lies wholly in the
// padding.

// y = the element that each window of x takes; -infinity for a window of padding.
template <class T>
void max_pool(const PoolGeometry&, const T* x, T* y);
// dx = the sum of the g of all windows that take an element.
template <class T>
void max_pool_scatter(const PoolGeometry&, const T* g, const T* x, T* dx);
// y = the elements of `values` at the places that the windows of x take; 0 for a window of padding.
template <class T>
void max_pool_gather(const PoolGeometry&, const T* values, const T* x, T* y);

// y = the sum of each window divided by its divisor.
template <class T>
void avg_pool(const PoolGeometry&, const T* x, T* y);
// dx = the sum of g / divisor of all windows that an element lies in.
template <class T>
void avg_pool_spread(const PoolGeometry&, const T* g, T* dx);

}  // namespace lunagrad
