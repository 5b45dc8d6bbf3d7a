#pragma once
// The lengths of Fourier transforms that the kernel of a GPU takes: lengths with the factors 2, 3 and 5 that
// fit into the shared memory of a workgroup, and products of two of these. Pure functions, any thread.
#include <cstdint>

namespace lunagrad {

inline constexpr int64_t kLongestSharedFft = 2048;

inline bool has_small_factors(int64_t n) {
  for (const int64_t factor : {2, 3, 5})
    while (n % factor == 0) n /= factor;
  return n == 1;
}

// The first side of a matrix of n numbers; the second side is n / result. Returns n if no second side is
// needed, and 0 if the kernel does not take the length.
inline int64_t fft_side(int64_t n) {
  if (n < 1 || n > kLongestSharedFft * kLongestSharedFft || !has_small_factors(n)) return 0;
  if (n <= kLongestSharedFft) return n;
  int64_t side = 1;
  for (int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) side = d;
  return n / side <= kLongestSharedFft ? side : 0;
}

// The power of two with which a convolution of length n is computed; 0 if the kernel does not take it.
inline int64_t fft_convolution_length(int64_t n) {
  int64_t whole = 1;
  while (whole < 2 * n - 1 && whole <= kLongestSharedFft * kLongestSharedFft) whole *= 2;
  return fft_side(whole) > 0 ? whole : 0;
}

}  // namespace lunagrad
