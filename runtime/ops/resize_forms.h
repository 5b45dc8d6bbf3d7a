#pragma once
// What resize.cpp takes from resize_modes.cpp and sampling.cpp. Any thread.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/op.h"

namespace lunagrad {

// The modes of interpolate after those of Interpolation (ops.h). They are compositions.
enum ComposedMode : int64_t { kBicubic = 3, kTrilinear, kArea, kNearestExact };

// The element that result i takes in mode nearest: the one at floor(i * in / out), or at floor(i / factor).
// `exact`: of the middle of the result, i + 1/2, as in mode nearest-exact. The quotients are exact, so that
// a result whose place is a whole number takes the element there.
inline int64_t nearest_element(int64_t i, int64_t in, int64_t out, const Value& factor, bool exact) {
  if (factor.present()) {
    const double place = std::floor((double(i) + (exact ? 0.5 : 0)) / factor.f);
    return place < double(in) ? int64_t(place) : in - 1;
  }
  const __int128 halves = 2 * __int128(i) + (exact ? 1 : 0);
  return int64_t(halves * in / (2 * __int128(out)));
}

bool is_composed_mode(const Call&);
Operands interpolate_compose(const Call&);

// values times weights, and 0 for an infinite value or NaN of weight 0: such an element does not take part.
// The gradients of the weights are the values, also of weight 0.
Tensor product_unless_zero(const Tensor& values, const Tensor& weights);

// The four weights of cubic convolution for the elements at -1, 0, 1 and 2, as functions of t in [0, 1): Keys
// (IEEE Transactions on Acoustics, Speech and Signal Processing, 1981) with a = -0.75.
std::array<Tensor, 4> cubic_weights(const Tensor& t);

std::span<const Op* const> sampling_ops();  // sampling.cpp
std::span<const Op* const> shuffle_ops();   // shuffle.cpp

}  // namespace lunagrad
