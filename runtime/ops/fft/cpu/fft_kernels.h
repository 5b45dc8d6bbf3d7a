#pragma once
// The innermost loops of the Fourier transforms (ops/fft/cpu/fft.h), compiled for each SIMD target. They work
// on complex vectors: `lanes` real parts, then `lanes` imaginary parts; each lane belongs to a transform of
// its own. A buffer of `rows` x v complex vectors holds transforms of length `rows`, v * lanes of them side
// by side. Complex numbers elsewhere are pairs. Pure functions, any thread.
#include <cstdint>

namespace lunagrad {

template <class T>
struct FftKernels {
  int64_t lanes;
  // Pairs to complex vectors: `rows` rows of `columns` pairs, in_row pairs apart. `swap` exchanges real and
  // imaginary parts: the inverse transform is the forward transform of exchanged parts. Missing lanes get
  // zeros.
  void (*load)(const T* in, int64_t in_row, int64_t rows, int64_t columns, bool swap, T* out);
  // out = in * factors for rows of v complex vectors; both rows are `row` elements apart.
  void (*load_times)(const T* in, int64_t in_row, const T* factors, int64_t factors_row, int64_t rows,
                     int64_t v, T* out);
  // One pass of the transform: see fft_kernels.cpp.
  void (*pass)(int radix, const T* in, T* out, int64_t left, int64_t stride, const T* twiddles);
  // Complex vectors to pairs times `scale`: the inverse of `load`.
  void (*store)(const T* in, int64_t rows, int64_t columns, bool swap, T scale, T* out, int64_t out_row);
  // out = scale * a * b for `count` pairs; swap_a exchanges the parts of a, swap_out the parts of the result.
  void (*multiply)(const T* a, bool swap_a, const T* b, int64_t count, T scale, bool swap_out, T* out);
  // The spectrum of 2 half real numbers from the spectrum z of `half` complex numbers, each of two adjacent
  // real numbers; in place. Computes the pairs k and half - k for k in [begin, end), 0 < begin, end <= (half
  // + 1) / 2. roots[k] = exp(-pi i k / half). `untangle_inverse` makes z from the spectrum x.
  void (*untangle)(T* z, int64_t half, int64_t begin, int64_t end, const T* roots, T scale);
  void (*untangle_inverse)(const T* x, T* z, int64_t half, int64_t begin, int64_t end, const T* roots);
};

template <class T>
const FftKernels<T>& fft_kernels();  // float, double

// The radices that `pass` supports.
inline constexpr int kFftRadices[] = {8, 4, 2, 3, 5, 7, 11, 13};

}  // namespace lunagrad
