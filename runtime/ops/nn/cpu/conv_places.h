#pragma once
// Where the results of a convolution are written, and the inputs' gradient as convolutions of the outputs'
// gradient. Pure values.
#include <algorithm>
#include <numeric>
#include <vector>

#include "runtime/ops/nn/cpu/conv_sizes.h"

namespace lunagrad {

// The positions of results in a larger image: the first position, and the steps between them.
struct Placement {
  ConvGeometry::Sizes size, first, step;
  bool dense() const { return step == ConvGeometry::Sizes{1, 1, 1}; }
  int64_t channel() const { return size[0] * size[1] * size[2]; }
  int64_t row(int64_t d, int64_t h) const {
    return ((d * step[0] + first[0]) * size[1] + h * step[1] + first[1]) * size[2] + first[2];
  }
};

// The taps of one dim of the kernel that reach inputs start, start + stride, …: the gradient of these inputs
// is a convolution of g with stride 1 and reversed taps.
struct Subkernel {
  int64_t first = 0, step = 1, count = 0;  // taps of the kernel
  int64_t dilation = 1, padding = 0, out = 0;
  Subkernel(const ConvGeometry& g, size_t d, int64_t start) {
    const int64_t s = g.stride[d], to = start + g.padding[d];
    while (first < g.kernel[d] && (to - first * g.dilation[d]) % s != 0) ++first;
    step = s / std::gcd(s, g.dilation[d]);
    out = (g.in[d] - start + s - 1) / s;
    if (first >= g.kernel[d]) return;
    count = (g.kernel[d] - 1 - first) / step + 1;
    dilation = step * g.dilation[d] / s;
    padding = (count - 1) * dilation - (to - first * g.dilation[d]) / s;
  }
  int64_t tap(int64_t i) const { return first + step * (count - 1 - i); }
};

// The gradient of the inputs start, start + stride, … of each dim.
struct InputGradient {
  ConvGeometry geometry;      // for the convolution of the outputs' gradient
  std::vector<int64_t> taps;  // of the kernel, in the order of this convolution
  Placement place;

  InputGradient(const ConvGeometry& g, const ConvGeometry::Sizes& start) : place{g.in, start, g.stride} {
    const Subkernel sub[] = {{g, 0, start[0]}, {g, 1, start[1]}, {g, 2, start[2]}};
    geometry.batch = g.batch, geometry.groups = g.groups;
    geometry.in_channels = g.out_channels, geometry.out_channels = g.in_channels;
    geometry.in = g.out;
    for (size_t d = 0; d < ConvGeometry::kSpatial; ++d) {
      geometry.out[d] = sub[d].out, geometry.kernel[d] = sub[d].count;
      geometry.padding[d] = sub[d].padding, geometry.dilation[d] = sub[d].dilation;
    }
    for (int64_t i = 0; i < sub[0].count; ++i)
      for (int64_t j = 0; j < sub[1].count; ++j)
        for (int64_t k = 0; k < sub[2].count; ++k)
          taps.push_back((sub[0].tap(i) * g.kernel[1] + sub[1].tap(j)) * g.kernel[2] + sub[2].tap(k));
  }
};

// Calls f(start) with the first input for each remainder of the stride.
template <class F>
void for_remainders(const ConvGeometry& g, F&& f) {
  ConvGeometry::Sizes start;
  for (start[0] = 0; start[0] < std::min(g.stride[0], g.in[0]); ++start[0])
    for (start[1] = 0; start[1] < std::min(g.stride[1], g.in[1]); ++start[1])
      for (start[2] = 0; start[2] < std::min(g.stride[2], g.in[2]); ++start[2]) f(start);
}

}  // namespace lunagrad
