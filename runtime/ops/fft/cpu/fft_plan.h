#pragma once
// How a transform of a given length is computed, and its roots of unity. Plans are made once, cached for the
// process and never changed: any thread.
#include <complex>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace lunagrad {

// The roots exp(-2 pi i k / n). Each is computed in a type of more bits, as the product of two of about
// sqrt(n) stored roots, which are exact.
template <class T>
class UnitRoots {
 public:
  explicit UnitRoots(int64_t n);
  std::complex<T> operator()(int64_t k) const;  // 0 <= k < n

 private:
  using Precise = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  int64_t block_;
  std::vector<std::complex<Precise>> fine_, coarse_;
};

// A transform that is a chain of passes of small radices, along the first axis of a buffer (fft_kernels.h).
template <class T>
struct FftLine {
  struct Pass {
    int radix;
    int64_t left;
    size_t twiddles;  // index into `twiddles`
  };
  int64_t length = 1;
  std::vector<Pass> passes;
  std::vector<T> twiddles;
};

template <class T>
struct FftPlan {
  enum class Kind {
    line,    // one chain of passes
    square,  // rows x columns: two lines with a multiplication between them
    chirp    // a convolution, for lengths with a large prime factor
  };
  int64_t length = 1;
  Kind kind = Kind::line;

  // line: `first`. square: `first` along the rows, then `second` along the columns of the transposed matrix.
  FftLine<T> first, second;
  std::vector<T> between;  // square: the factors w^(j k) as complex vectors, [second.length, first.length]
  int64_t between_row = 0;

  // chirp: the plan for the length of the convolution; pairs exp(-pi i k^2 / length); the spectrum of the
  // filter.
  std::shared_ptr<const FftPlan> inner;
  std::vector<T> chirp, filter;

  size_t bytes() const;
};

// The forward transform of n complex numbers, in place. A plan needs it for its filter; fft.cpp implements
// it.
void transform_filter(double* z, int64_t n, double scale);

// The plan for this length with the vectors of the current SIMD target. Error(cancelled) on a stop.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t length);

// The chain of passes for this length; null if it has a large prime factor.
template <class T>
std::shared_ptr<const FftLine<T>> fft_line(int64_t length);

// exp(-pi i k / half) for k <= half / 2, pairs: the transform of 2 half real numbers needs them besides the
// plan for `half`.
template <class T>
std::shared_ptr<const std::vector<T>> fft_real_roots(int64_t half);

}  // namespace lunagrad
