#pragma once
// The arguments of pools over 1 to 3 spatial dims, checked, and the number of windows that they give. Pure;
// any thread.
#include <array>

#include "runtime/core/op.h"

namespace lunagrad {

using PoolSizes = std::array<int64_t, 3>;  // of D, H and W; with fewer spatial dims only the last ones count

// Checks that a list has one number, or one for each spatial dim, each at least `least`.
PoolSizes pool_sizes(const Call&, int dims, const char* name, const Dims& list, int64_t least);
// Checks that x is [N, C, spatial…] or [C, spatial…] with elements along each spatial dim.
void check_pooled(const Call&, int dims, const Shape& x);

struct WindowOptions {
  Dims kernel_size;
  Value stride;  // absent or empty: kernel_size
  Dims padding, dilation;
  bool ceil_mode, with_padding;
};
struct WindowAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;
};
// The windows along D, H and W. Error if the arguments do not fit x, or no window does.
std::array<WindowAxis, 3> window_axes(const Call&, int dims, const Shape& x, const WindowOptions&);

// The records of pool_forms.cpp and lp_pool.cpp.
std::span<const Op* const> pool_forms();
std::span<const Op* const> lp_pool_forms();

}  // namespace lunagrad
