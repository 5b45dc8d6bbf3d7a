#pragma once
// The sizes of a convolution, a pooling or an unfolding of images. Pure values.
#include <array>
#include <cstdint>

namespace lunagrad {

// Missing leading spatial dims have size 1. `padding` is the padding before the input. `out` may be smaller
// than the windows allow, and windows may reach beyond either end: elements outside the input are 0.
struct ConvGeometry {
  static constexpr int kSpatial = 3;
  using Sizes = std::array<int64_t, kSpatial>;
  int64_t batch = 1, groups = 1;
  int64_t in_channels = 1, out_channels = 1;  // of all groups
  Sizes in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};

  int64_t group_inputs() const { return in_channels / groups; }
  int64_t group_outputs() const { return out_channels / groups; }
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t window() const { return group_inputs() * kernel_size(); }  // inputs of one output
  bool is_pointwise() const {  // 1 x 1 kernel and stride, no padding: each window is one input element
    const Sizes one{1, 1, 1}, none{0, 0, 0};
    return kernel == one && stride == one && padding == none && in == out;
  }
};

}  // namespace lunagrad
