#pragma once
// Convolution of images with 1 to 3 spatial dims, groups, strides, padding and dilation: the result and both
// gradients. Inputs are copied tile by tile into a form in which neighbouring outputs read neighbouring
// inputs (conv_tile.h), and the products are summed in registers (conv_kernels.h); 1 x 1 kernels are products
// of matrices. T: float or double; tensors lie in order. Work is split over the engine's pool; the results do
// not depend on which thread does what.
#include <array>
#include <cstdint>

#include "runtime/cpu/elementwise_kernels.h"

namespace lunagrad {

// Sizes of one convolution. Missing leading spatial dims have size 1. `out` may be smaller than what fits,
// and the windows may reach over either end: what lies outside the input is 0. `padding` is that before the
// input.
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
  bool is_pointwise() const;                                         // the windows are the image itself
};

// y[n, o] = activation(bias[o] + sum over the window of x[n] * weight[o]); bias and activation may be null.
template <class T>
void conv_forward(const ConvGeometry&, const T* x, const T* weight, const T* bias, T* y,
                  StretchKernel activation = nullptr);
// dx from the gradient g of y, plus bias[c] for each input channel; bias may be null.
template <class T>
void conv_grad_input(const ConvGeometry&, const T* g, const T* weight, const T* bias, T* dx);
// dweight from the gradient g of y.
template <class T>
void conv_grad_weight(const ConvGeometry&, const T* x, const T* g, T* dweight);

}  // namespace lunagrad
