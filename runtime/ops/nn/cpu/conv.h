#pragma once
// Convolution of images with 1 to 3 spatial dims, groups, strides, padding and dilation: the result and both
// gradients. Inputs are copied tile by tile into a layout in which neighbouring outputs read neighbouring
// inputs (conv_tile.h), and the products are accumulated in registers (conv_kernels.h); 1 x 1 kernels are
// matrix products. T: float or double; tensors are contiguous. The thread pool shares the work; results do
// not depend on the number of threads.
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"
#include "runtime/ops/nn/cpu/conv_sizes.h"

namespace lunagrad {

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
