#pragma once
// Max pooling of planes of H x W elements that lie in order, split over the engine's pool. Which element a
// window takes is found anew from the input wherever it is needed, so nothing is kept for the gradient: the
// first of the largest, or the last NaN; none where a window lies wholly in the padding. T: float or double.
#include <cstdint>

namespace lunagrad {

struct PoolGeometry {
  int64_t planes, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
};

// y = the element that each window of x takes; -infinity for a window of padding.
template <class T>
void max_pool(const PoolGeometry&, const T* x, T* y);
// dx = the sum of the g of all windows that take an element.
template <class T>
void max_pool_scatter(const PoolGeometry&, const T* g, const T* x, T* dx);
// y = the elements of `values` at the places that the windows of x take; 0 for a window of padding.
template <class T>
void max_pool_gather(const PoolGeometry&, const T* values, const T* x, T* y);

}  // namespace lunagrad
