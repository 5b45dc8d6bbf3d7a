#pragma once
// For compositions whose sums may leave the range of their type (large_means.cpp): what can be told of values
// without waiting for a device, and means. For the thread of the tensors.
#include <functional>
#include <limits>

#include "runtime/tensor.h"

namespace lunagrad {

// The least and the largest magnitude other than 0; NaN counts as infinite. Not known: the elements cannot be
// read at once, or have 16 bits.
struct Magnitudes {
  bool known = false, zero = false;  // zero: whether an element is 0
  double least = std::numeric_limits<double>::infinity(), largest = 0;
};
Magnitudes magnitudes_of(const Tensor&);
// Whether all elements are known to be finite, or to lie from `least` to `most`. Faster than magnitudes_of().
bool surely_finite(const Tensor&);
bool surely_within(const Tensor&, double least, double most);

// What becomes of the elements before they are added.
using Scaling = std::function<Tensor(const Tensor&)>;

// sum(scaling) / count, where sum() gives a tensor to the scaling before it adds it. Where that is not
// finite, the mean comes of elements times a power of two.
Tensor mean_of_sums(const std::function<Tensor(const Scaling&)>& sum, const Tensor& count);

}  // namespace lunagrad
