#pragma once
// For compositions whose sums may leave the range of their type (large_means.cpp): the range of values that
// can be read without waiting for a device, and means. For the tensors' thread.
#include <functional>
#include <limits>

#include "runtime/core/tensor.h"

namespace lunagrad {

// The least and the largest magnitude other than 0; NaN counts as infinite. `known` is false if the elements
// cannot be read without waiting, or have 16 bits.
struct Magnitudes {
  bool known = false, zero = false;  // zero: whether an element is 0
  double least = std::numeric_limits<double>::infinity(), largest = 0;
};
Magnitudes magnitudes_of(const Tensor&);
// Whether all elements are known to be finite, or to lie from `least` to `most`. Faster than magnitudes_of().
bool surely_finite(const Tensor&);
bool surely_within(const Tensor&, double least, double most);

// Applied to the elements before they are added.
using Scaling = std::function<Tensor(const Tensor&)>;

// sum(scaling) / count, where sum() applies the scaling to a tensor before it adds the elements. Where the
// result is not finite, the mean is computed from elements times a power of two.
Tensor mean_of_sums(const std::function<Tensor(const Scaling&)>& sum, const Tensor& count);

}  // namespace lunagrad
