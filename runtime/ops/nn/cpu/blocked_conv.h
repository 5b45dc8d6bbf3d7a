#pragma once
// Convolution of blocked images, whose vectors hold neighbouring channels. Where a row of outputs is short,
// conv.cpp fills vectors of neighbouring outputs badly; here any size fills them, and taps outside the image
// cost nothing. Each sum adds its products in an order that depends on the shapes alone. T: float or double;
// tensors are contiguous.
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"
#include "runtime/ops/nn/cpu/conv_sizes.h"

namespace lunagrad {

// Whether blocks make the result or the gradient of the inputs faster, which has `outputs` channels in a
// group, and the gradient of the weights.
template <class T>
bool blocks_sums(const ConvGeometry&, int64_t outputs);
template <class T>
bool blocks_weights(const ConvGeometry&);

// As the functions of conv.h.
template <class T>
void blocked_forward(const ConvGeometry&, const T* x, const T* weight, const T* bias, T* y,
                     StretchKernel activation);
template <class T>
void blocked_grad_input(const ConvGeometry&, const T* g, const T* weight, const T* bias, T* dx);
template <class T>
void blocked_grad_weight(const ConvGeometry&, const T* x, const T* g, T* dweight);

}  // namespace lunagrad
