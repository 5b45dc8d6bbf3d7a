#pragma once
// One dim of a convolution as the shaders see it, for the result and for the input's gradient. The gradient
// is computed separately for each remainder of the position by the stride. Pure.
#include <algorithm>
#include <array>
#include <numeric>

#include "runtime/ops/nn/cpu/conv_sizes.h"

namespace lunagrad::gpu {

// The position in the image is position * stride + origin + i * tap, for i < taps.
// The taps are every `every`-th element of the kernel, from `first` on. The position in the result is
// position * out_stride + out_origin.
struct Along {
  int64_t positions, stride, origin, tap, taps, first, every, out_stride, out_origin;
};

inline Along forward_along(const ConvGeometry& g, size_t d) {
  return {g.out[d], g.stride[d], -g.padding[d], g.dilation[d], g.kernel[d], 0, 1, 1, 0};
}

// The input's gradient at positions with remainder r by the stride. Position p of the result contributes
// through tap t where  p * stride - padding + t * dilation  is the position of the input.
inline Along gradient_along(const ConvGeometry& g, size_t d, int64_t r) {
  const int64_t stride = g.stride[d], dilation = g.dilation[d], shift = r + g.padding[d];
  const int64_t every = stride / std::gcd(stride, dilation);
  Along along{(g.in[d] - r + stride - 1) / stride, 1, 0, 0, 0, 0, every, stride, r};
  for (int64_t t = 0; t < std::min(every, g.kernel[d]); ++t)
    if ((shift - t * dilation) % stride == 0) {
      along.first = t;
      along.taps = (g.kernel[d] - t + every - 1) / every;
      along.origin = (shift - t * dilation) / stride;
      along.tap = -every * dilation / stride;
      break;
    }
  return along;
}

using Window = std::array<Along, 3>;

inline int64_t taps_of(const Window& w) { return w[0].taps * w[1].taps * w[2].taps; }
// Number of positions in one sample.
inline int64_t positions_of(const Window& w) { return w[0].positions * w[1].positions * w[2].positions; }
// Whether the positions in the result have gaps.
inline bool is_scattered(const Window& w) {
  return std::any_of(w.begin(), w.end(), [](const Along& along) { return along.out_stride != 1; });
}

// Sets the shader arguments that describe the window.
template <class Arguments>
void set_window(Arguments& a, const Window& window, const ConvGeometry::Sizes& image_size,
                const ConvGeometry::Sizes& out_size) {
  for (size_t d = 0; d < 3; ++d) {
    const Along& one = window[d];
    a.image_size[d] = uint32_t(image_size[d]);
    a.size[d] = uint32_t(one.positions);
    a.kernel[d] = uint32_t(std::max<int64_t>(1, one.taps));
    a.stride[d] = int32_t(one.stride);
    a.origin[d] = int32_t(one.origin);
    a.tap[d] = int32_t(one.tap);
    a.out_size[d] = uint32_t(out_size[d]);
    a.out_stride[d] = uint32_t(one.out_stride);
    a.out_origin[d] = uint32_t(one.out_origin);
  }
}

// Calls f for each remainder of the input's gradient; together they cover it.
template <class F>
void each_remainder(const ConvGeometry& g, F&& f) {
  std::array<int64_t, 3> r{}, count{};
  for (size_t d = 0; d < 3; ++d) count[d] = std::min(g.stride[d], g.in[d]);
  for (r[0] = 0; r[0] < count[0]; ++r[0])
    for (r[1] = 0; r[1] < count[1]; ++r[1])
      for (r[2] = 0; r[2] < count[2]; ++r[2])
        f(Window{gradient_along(g, 0, r[0]), gradient_along(g, 1, r[1]), gradient_along(g, 2, r[2])});
}

// The number of spatial dims without leading dims of size 1.
inline uint32_t used_dims(const ConvGeometry& g) {
  const auto trivial = [&](size_t d) {
    return g.in[d] == 1 && g.out[d] == 1 && g.kernel[d] == 1 && g.padding[d] == 0;
  };
  return !trivial(0) ? 3 : !trivial(1) ? 2 : 1;
}

}  // namespace lunagrad::gpu
