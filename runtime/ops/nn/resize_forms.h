#pragma once
// What resize.cpp takes from resize_modes.cpp and sampling.cpp. Any thread.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/core/op.h"

namespace lunagrad {

// Modes of interpolate that Interpolation (ops.h) does not name; their numbers follow its last one. Bicubic
// and area are compositions.
enum FurtherMode : int64_t { kBicubic = 3, kTrilinear, kArea, kNearestExact };
// The parameters of interpolate and _interpolate_grad; only the gradient has the last one.
enum InterpolateParam {
  kInterpolateSize,
  kInterpolateScaleFactor,
  kInterpolateMode,
  kInterpolateAlignCorners,
  kInterpolateInputSize
};

// The index of the element that result i takes in mode nearest: floor(i * in / out), or floor(i / factor).
// `exact`: mode nearest-exact, which uses the middle of the result, i + 1/2. The quotients are exact, so that
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
void check_interpolation(const Call&);  // an Error if the input's dims or the parameters do not fit the mode
Operands interpolate_compose(const Call&);

// values times weights; the product is 0 where the weight is 0, even if the value is infinite or NaN. The
// gradients of the weights are the values, also where a weight is 0.
Tensor product_unless_zero(const Tensor& values, const Tensor& weights);

// The four weights of cubic convolution for the elements at -1, 0, 1 and 2, as functions of t in [0, 1): Keys
// (IEEE Transactions on Acoustics, Speech and Signal Processing, 1981) with a = -0.75.
std::array<Tensor, 4> cubic_weights(const Tensor& t);

std::span<const Op* const> sampling_ops();  // sampling.cpp

}  // namespace lunagrad
