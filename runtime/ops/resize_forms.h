#pragma once
// What resize.cpp takes from resize_modes.cpp and sampling.cpp. Any thread.
#include <array>

#include "runtime/op.h"

namespace lunagrad {

// The modes of interpolate after those of Interpolation (ops.h). They are compositions.
enum ComposedMode : int64_t { kBicubic = 3, kTrilinear, kArea, kNearestExact };

bool is_composed_mode(const Call&);
Operands interpolate_compose(const Call&);

// The four weights of cubic convolution for the elements at -1, 0, 1 and 2, as functions of t in [0, 1): Keys
// (IEEE Transactions on Acoustics, Speech and Signal Processing, 1981) with a = -0.75.
std::array<Tensor, 4> cubic_weights(const Tensor& t);

std::span<const Op* const> sampling_ops();  // sampling.cpp
std::span<const Op* const> shuffle_ops();   // shuffle.cpp

}  // namespace lunagrad
