#pragma once
// Fourier transforms along one dim, which counts from 0. They run the hidden records of fft_along.cpp. For
// the tensors' thread.
#include "runtime/core/op.h"

namespace lunagrad {

// x with the dim cut to n elements, or filled up to n with zeros.
Tensor fit_dim(const Tensor& x, int dim, int64_t n);

// The transform of complex numbers.
Tensor fft_along(const Tensor& x, int dim, bool inverse, double scale);
// The first n / 2 + 1 numbers of the spectrum of n real ones.
Tensor rfft_along(const Tensor& x, int dim, double scale);
// n real numbers from the first n / 2 + 1 of their spectrum.
Tensor irfft_along(const Tensor& x, int dim, int64_t n, double scale);

}  // namespace lunagrad
