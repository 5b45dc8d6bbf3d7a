#pragma once
// Convolutions of images with one channel in each group. Tiles of kChannelBlock channels are transposed, so
// that vectors hold neighbouring channels; where rows are long and the stride is 1, vectors of neighbouring
// outputs (conv.cpp) need no transposition. The order of sums depends on the shapes alone. T: float or
// double; tensors are contiguous.
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"
#include "runtime/ops/nn/cpu/conv_sizes.h"

namespace lunagrad {

// Whether the transposition makes the result and the gradient of the inputs faster, and the gradient of the
// weights.
bool depthwise_sums(const ConvGeometry&);
bool depthwise_weights(const ConvGeometry&);

// As the functions of conv.h.
template <class T>
void depthwise_forward(const ConvGeometry&, const T* x, const T* weight, const T* bias, T* y,
                       StretchKernel activation);
template <class T>
void depthwise_grad_input(const ConvGeometry&, const T* g, const T* weight, const T* bias, T* dx);
template <class T>
void depthwise_grad_weight(const ConvGeometry&, const T* x, const T* g, T* dweight);

}  // namespace lunagrad
