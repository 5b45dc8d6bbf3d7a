#pragma once
// Pooling of contiguous planes [rows, columns]; the thread pool shares the work. Each axis has a list of
// windows, so the kernels need no special cases for padding, dilation, ceil_mode and adaptive sizes. T: float
// or double.
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/nn/cpu/conv_sizes.h"

namespace lunagrad {

// The elements of a window along one axis, without padding, and the divisor of an average along that axis.
struct PoolWindow {
  int64_t start, count, divisor;
};
struct PoolAxis {
  int64_t size = 1;      // of the input
  int64_t dilation = 1;  // distance between a window's elements
  std::vector<PoolWindow> windows{{0, 1, 1}};
  int64_t unlisted = 0;  // windows that are not listed because there are no planes to pool

  int64_t out() const { return int64_t(windows.size()) + unlisted; }
};
struct PoolGeometry {
  int64_t planes = 1;
  PoolAxis rows, columns;
  int64_t divisor = 0;  // of every window; 0: the product of the axes' divisors
  // Of one plane, if all windows have the same elements and a fixed distance.
  std::optional<ConvGeometry> kernel;

  int64_t in_size() const { return rows.size * columns.size; }
  int64_t out_size() const { return rows.out() * columns.out(); }
};

// Max pooling saves no indices for the gradient: it searches the input again. A window takes the first of its
// largest elements, or its last NaN. A window with only padding takes nothing.

// y = the element that each window of x takes; -infinity for a window with only padding.
template <class T>
void max_pool(const PoolGeometry&, const T* x, T* y);
// dx = for each element the sum of g over the windows that take it.
template <class T>
void max_pool_scatter(const PoolGeometry&, const T* g, const T* x, T* dx);
// y = the elements of `values` at the positions that the windows of x take; 0 for a window with only padding.
template <class T>
void max_pool_gather(const PoolGeometry&, const T* values, const T* x, T* y);

// y = the sum of each window divided by its divisor.
template <class T>
void avg_pool(const PoolGeometry&, const T* x, T* y);
// dx = for each element the sum of g / divisor over the windows that contain it.
template <class T>
void avg_pool_spread(const PoolGeometry&, const T* g, T* dx);

}  // namespace lunagrad
