#pragma once
// Rows of layer and root-mean-square normalisation, compiled for each SIMD target. Pure loops: they neither
// allocate nor throw, and any thread may run them. T: float or double.
#include <cstdint>

namespace lunagrad {

// y = (x - mean) / sqrt(var + eps) * weight + bias; weight and bias may be null.
template <class T>
void layer_norm_row(int64_t n, const T* x, const T* weight, const T* bias, double eps, T* y);
// y = x / sqrt(mean(x^2) + eps) * weight
template <class T>
void rms_norm_row(int64_t n, const T* x, const T* weight, double eps, T* y);

// Gradients from the gradient g of y: dx is overwritten; dweight and dbias accumulate. Each of the three and
// weight may be null.
template <class T>
void layer_norm_grad_row(int64_t n, const T* g, const T* x, const T* weight, double eps, T* dx, T* dweight,
                         T* dbias);
template <class T>
void rms_norm_grad_row(int64_t n, const T* g, const T* x, const T* weight, double eps, T* dx, T* dweight);

}  // namespace lunagrad
