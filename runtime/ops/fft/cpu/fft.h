#pragma once
// Discrete Fourier transforms of any length, y_k = scale * sum of x_j exp(-2 pi i j k / n), or exp(+…) for
// the inverse. T is float or double; complex numbers are pairs (real, imaginary). Strides of rows count
// elements of T. Any thread; the thread pool shares the work, both among rows and within a long row.
// Error(cancelled) on a stop, which leaves the result half-written.
#include <cstdint>

namespace lunagrad {

// `count` rows of n complex numbers. `out` may be `in` with the same stride.
template <class T>
void fft_rows(const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count, int64_t n, bool inverse,
              double scale);

// Transforms the middle axis of contiguous [outer, n, inner] complex numbers, without transposing them.
// Returns false, and does nothing, when transposing is faster.
template <class T>
bool fft_columns(const T* in, T* out, int64_t outer, int64_t n, int64_t inner, bool inverse, double scale);

// Rows of n real numbers to the first n / 2 + 1 numbers of their spectra.
template <class T>
void rfft_rows(const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count, int64_t n, double scale);

// The inverse transform of Hermitian spectra, given by their first n / 2 + 1 numbers, to rows of n real
// numbers. Where the spectrum must be real, imaginary parts are ignored.
template <class T>
void irfft_rows(const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count, int64_t n, double scale);

}  // namespace lunagrad
