#include "runtime/ops/fft/cpu/fft_kernels.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/fft/cpu/fft_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
inline constexpr int64_t kLanes = int64_t(HWY_LANES(T));

// The constructors are written out: GCC compiles implicit ones for the baseline processor, not for the
// target.
template <class T>
struct Cx {
  HWY_INLINE Cx() {}
  HWY_INLINE Cx(hn::Vec<Tag<T>> re, hn::Vec<Tag<T>> im) : re(re), im(im) {}
  hn::Vec<Tag<T>> re, im;
};

template <class T>
HWY_INLINE Cx<T> operator+(Cx<T> a, Cx<T> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class T>
HWY_INLINE Cx<T> operator-(Cx<T> a, Cx<T> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class T>
HWY_INLINE Cx<T> operator*(Cx<T> a, Cx<T> b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
}
template <class T>
HWY_INLINE Cx<T> times(Cx<T> a, hn::Vec<Tag<T>> factor) {
  return {hn::Mul(a.re, factor), hn::Mul(a.im, factor)};
}
template <class T>
HWY_INLINE Cx<T> times_minus_i(Cx<T> a) {
  return {a.im, hn::Neg(a.re)};
}
template <class T>
HWY_INLINE Cx<T> conjugate(Cx<T> a) {
  return {a.re, hn::Neg(a.im)};
}

template <class T>
HWY_INLINE Cx<T> load(const T* from) {
  const Tag<T> d;
  return {hn::LoadU(d, from), hn::LoadU(d, from + kLanes<T>)};
}
template <class T>
HWY_INLINE void store(Cx<T> z, T* to) {
  const Tag<T> d;
  hn::StoreU(z.re, d, to);
  hn::StoreU(z.im, d, to + kLanes<T>);
}
template <class T>
HWY_INLINE Cx<T> load_pairs(const T* from) {
  const Tag<T> d;
  auto re = hn::Zero(d), im = re;
  hn::LoadInterleaved2(d, from, re, im);
  return {re, im};
}
template <class T>
HWY_INLINE void store_pairs(Cx<T> z, T* to) {
  hn::StoreInterleaved2(z.re, z.im, Tag<T>(), to);
}
template <class T>
HWY_INLINE Cx<T> exchanged(Cx<T> z, bool swap) {
  return swap ? Cx<T>{z.im, z.re} : z;
}
template <class T>
HWY_INLINE Cx<T> reversed(Cx<T> z) {
  const Tag<T> d;
  return {hn::Reverse(d, z.re), hn::Reverse(d, z.im)};
}

// --- butterflies: x becomes its transform of length `radix`, y_j = sum of x_k exp(-2 pi i j k / radix) ---

template <class T>
HWY_INLINE void butterfly4(Cx<T>& x0, Cx<T>& x1, Cx<T>& x2, Cx<T>& x3) {
  const Cx<T> a = x0 + x2, b = x0 - x2, c = x1 + x3, d = times_minus_i(x1 - x3);
  x0 = a + c;
  x1 = b + d;
  x2 = a - c;
  x3 = b - d;
}

// The cosines and sines of 2 pi k / radix.
template <class T, int radix>
struct Angles {
  std::array<T, radix> cosine, sine;
  Angles() {
    for (int k = 0; k < radix; ++k) {
      cosine[size_t(k)] = T(std::cos(2 * std::numbers::pi_v<long double> * k / radix));
      sine[size_t(k)] = T(std::sin(2 * std::numbers::pi_v<long double> * k / radix));
    }
  }
};

template <class T, int radix>
class Butterfly {  // an odd radix
 public:
  // The sums x_j + x_(r-j) contribute only cosines, the differences only sines.
  HWY_INLINE void operator()(Cx<T>* x) const {
    const Tag<T> d;
    constexpr int kHalf = radix / 2;
    Cx<T> sums[kHalf], differences[kHalf];
    const Cx<T> first = x[0];
    for (int j = 0; j < kHalf; ++j) {
      sums[j] = x[j + 1] + x[radix - 1 - j];
      differences[j] = x[j + 1] - x[radix - 1 - j];
      x[0] = x[0] + sums[j];
    }
    for (int k = 1; k <= kHalf; ++k) {
      Cx<T> even = first, odd{hn::Zero(d), hn::Zero(d)};
      for (int j = 1; j <= kHalf; ++j) {
        const auto c = hn::Set(d, angles().cosine[size_t(j * k % radix)]);
        const auto s = hn::Set(d, angles().sine[size_t(j * k % radix)]);
        even = {hn::MulAdd(c, sums[j - 1].re, even.re), hn::MulAdd(c, sums[j - 1].im, even.im)};
        odd = {hn::MulAdd(s, differences[j - 1].re, odd.re), hn::MulAdd(s, differences[j - 1].im, odd.im)};
      }
      odd = times_minus_i(odd);
      x[k] = even + odd;
      x[radix - k] = even - odd;
    }
  }

 private:
  const Angles<T, radix>& angles() const { return *angles_; }
  static const Angles<T, radix>& table() {
    static const Angles<T, radix> made;
    return made;
  }
  const Angles<T, radix>* angles_ = &table();
};
template <class T>
class Butterfly<T, 2> {
 public:
  HWY_INLINE void operator()(Cx<T>* x) const {
    const Cx<T> difference = x[0] - x[1];
    x[0] = x[0] + x[1];
    x[1] = difference;
  }
};
template <class T>
class Butterfly<T, 4> {
 public:
  HWY_INLINE void operator()(Cx<T>* x) const { butterfly4(x[0], x[1], x[2], x[3]); }
};
// Two transforms of length 4, of the even and of the odd elements.
template <class T>
class Butterfly<T, 8> {
 public:
  HWY_INLINE void operator()(Cx<T>* x) const {
    const auto root = hn::Set(Tag<T>(), T(std::numbers::sqrt2 / 2));
    Cx<T> a0 = x[0], a1 = x[2], a2 = x[4], a3 = x[6], b0 = x[1], b1 = x[3], b2 = x[5], b3 = x[7];
    butterfly4(a0, a1, a2, a3);
    butterfly4(b0, b1, b2, b3);
    b1 = times(b1 + times_minus_i(b1), root);
    b2 = times_minus_i(b2);
    b3 = times(times_minus_i(b3) - b3, root);
    x[0] = a0 + b0;
    x[1] = a1 + b1;
    x[2] = a2 + b2;
    x[3] = a3 + b3;
    x[4] = a0 - b0;
    x[5] = a1 - b1;
    x[6] = a2 - b2;
    x[7] = a3 - b3;
  }
};

// One pass of Stockham's transform, decimated in frequency: of length n = radix * left, for `stride`
// transforms side by side,
//   out[q + stride (radix p + j)] = w^(p j) sum over k of in[q + stride (p + left k)] exp(-2 pi i j k /
//   radix)
// with w = exp(-2 pi i / n), p < left, q < stride. The next pass has length `left` and stride `radix *
// stride`; the results of the last pass are in order, without a permutation by reversed digits (T. G.
// Stockham, "High-speed convolution and correlation", 1966; J. W. Cooley and J. W. Tukey, "An algorithm for
// the machine calculation of complex Fourier series", 1965). twiddles[p (radix - 1) + j - 1] = w^(p j),
// pairs.
template <class T, int radix>
void pass_of(const T* in, T* out, int64_t left, int64_t stride, const T* twiddles) {
  const Tag<T> d;
  const Butterfly<T, radix> butterfly;
  constexpr int64_t kUnit = 2 * kLanes<T>;
  const int64_t in_step = left * stride * kUnit, out_step = stride * kUnit;
  for (int64_t q = 0; q < out_step; q += kUnit) {  // p = 0: w^0 = 1
    Cx<T> x[radix];
    for (int k = 0; k < radix; ++k) x[k] = load(in + q + k * in_step);
    butterfly(x);
    for (int j = 0; j < radix; ++j) store(x[j], out + q + j * out_step);
  }
  for (int64_t p = 1; p < left; ++p) {
    const T* const from = in + p * out_step;
    T* const to = out + p * radix * out_step;
    const T* const w = twiddles + 2 * p * (radix - 1);
    Cx<T> factor[radix];
    for (int j = 1; j < radix; ++j) factor[j] = {hn::Set(d, w[2 * j - 2]), hn::Set(d, w[2 * j - 1])};
    for (int64_t q = 0; q < out_step; q += kUnit) {
      Cx<T> x[radix];
      for (int k = 0; k < radix; ++k) x[k] = load(from + q + k * in_step);
      butterfly(x);
      store(x[0], to + q);
      for (int j = 1; j < radix; ++j) store(x[j] * factor[j], to + q + j * out_step);
    }
  }
}

template <class T>
void pass(int radix, const T* in, T* out, int64_t left, int64_t stride, const T* twiddles) {
  switch (radix) {
    case 2:
      return pass_of<T, 2>(in, out, left, stride, twiddles);
    case 3:
      return pass_of<T, 3>(in, out, left, stride, twiddles);
    case 4:
      return pass_of<T, 4>(in, out, left, stride, twiddles);
    case 5:
      return pass_of<T, 5>(in, out, left, stride, twiddles);
    case 7:
      return pass_of<T, 7>(in, out, left, stride, twiddles);
    case 8:
      return pass_of<T, 8>(in, out, left, stride, twiddles);
    case 11:
      return pass_of<T, 11>(in, out, left, stride, twiddles);
    default:
      assert(radix == 13);
      return pass_of<T, 13>(in, out, left, stride, twiddles);
  }
}

// --- between pairs and complex vectors ---

template <class T>
void load_rows(const T* in, int64_t in_row, int64_t rows, int64_t columns, bool swap, T* out) {
  constexpr int64_t kUnit = 2 * kLanes<T>;
  const int64_t whole = columns / kLanes<T>, rest = columns % kLanes<T>;
  HWY_ALIGN T last[kUnit] = {};
  for (int64_t r = 0; r < rows; ++r, in += 2 * in_row) {
    for (int64_t c = 0; c < whole; ++c, out += kUnit) store(exchanged(load_pairs(in + c * kUnit), swap), out);
    if (rest == 0) continue;
    std::memcpy(last, in + whole * kUnit, size_t(2 * rest) * sizeof(T));
    store(exchanged(load_pairs(last), swap), out);
    out += kUnit;
  }
}

template <class T>
void store_rows(const T* in, int64_t rows, int64_t columns, bool swap, T scale, T* out, int64_t out_row) {
  constexpr int64_t kUnit = 2 * kLanes<T>;
  const int64_t whole = columns / kLanes<T>, rest = columns % kLanes<T>;
  const auto factor = hn::Set(Tag<T>(), scale);
  HWY_ALIGN T last[kUnit];
  for (int64_t r = 0; r < rows; ++r, out += 2 * out_row) {
    for (int64_t c = 0; c < whole; ++c, in += kUnit)
      store_pairs(times(exchanged(load(in), swap), factor), out + c * kUnit);
    if (rest == 0) continue;
    store_pairs(times(exchanged(load(in), swap), factor), last);
    in += kUnit;
    std::memcpy(out + whole * kUnit, last, size_t(2 * rest) * sizeof(T));
  }
}

template <class T>
void load_times(const T* in, int64_t in_row, const T* factors, int64_t factors_row, int64_t rows, int64_t v,
                T* out) {
  constexpr int64_t kUnit = 2 * kLanes<T>;
  for (int64_t r = 0; r < rows; ++r, in += in_row, factors += factors_row)
    for (int64_t c = 0; c < v * kUnit; c += kUnit, out += kUnit) store(load(in + c) * load(factors + c), out);
}

template <class T>
void multiply(const T* a, bool swap_a, const T* b, int64_t count, T scale, bool swap_out, T* out) {
  constexpr int64_t kUnit = 2 * kLanes<T>;
  const auto factor = hn::Set(Tag<T>(), scale);
  const auto product = [&](const T* left, const T* right, T* to) {
    const Cx<T> z = exchanged(load_pairs(left), swap_a) * load_pairs(right);
    store_pairs(times(exchanged(z, swap_out), factor), to);
  };
  int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) product(a + 2 * i, b + 2 * i, out + 2 * i);
  if (i == count) return;
  HWY_ALIGN T rest[2][kUnit] = {};
  const size_t bytes = size_t(2 * (count - i)) * sizeof(T);
  std::memcpy(rest[0], a + 2 * i, bytes);
  std::memcpy(rest[1], b + 2 * i, bytes);
  product(rest[0], rest[1], rest[0]);
  std::memcpy(out + 2 * i, rest[0], bytes);
}

// --- spectra of real numbers ---

// With E = (z_k + conj z_(h-k)) / 2 and O = -i (z_k - conj z_(h-k)) / 2, the spectra of the even and of the
// odd elements, x_k = E + w^k O and x_(h-k) = conj(E - w^k O).
template <class T>
HWY_INLINE void untangle_pair(Cx<T>& low, Cx<T>& high, Cx<T> root, hn::Vec<Tag<T>> half_scale) {
  const Cx<T> other = conjugate(high);
  const Cx<T> even = times(low + other, half_scale);
  const Cx<T> odd = times_minus_i(times(low - other, half_scale)) * root;
  low = even + odd;
  high = conjugate(even - odd);
}
// The inverse without the factor 1/2: E = x_k + conj x_(h-k), O = (x_k - conj x_(h-k)) conj w^k, z_k = E + i
// O, z_(h-k) = conj(E - i O).
template <class T>
HWY_INLINE void tangle_pair(Cx<T>& low, Cx<T>& high, Cx<T> root) {
  const Cx<T> other = conjugate(high);
  const Cx<T> even = low + other, odd = times_minus_i((low - other) * conjugate(root));
  low = even - odd;
  high = conjugate(even + odd);
}

// Calls f(low, high, root) on the pairs k and half - k, a vector of them at a time, and stores f's results.
template <class T, class F>
HWY_INLINE void for_pairs(const T* in, T* out, int64_t half, int64_t begin, int64_t end, const T* roots,
                          F&& f) {
  constexpr int64_t kUnit = 2 * kLanes<T>;
  int64_t k = begin;
  for (; k + kLanes<T> <= end; k += kLanes<T>) {
    const int64_t mirror = 2 * (half - k - kLanes<T> + 1);
    Cx<T> low = load_pairs(in + 2 * k), high = reversed(load_pairs(in + mirror));
    f(low, high, load_pairs(roots + 2 * k));
    store_pairs(low, out + 2 * k);
    store_pairs(reversed(high), out + mirror);
  }
  for (; k < end; ++k) {
    HWY_ALIGN T one[3][kUnit] = {};
    std::memcpy(one[0], in + 2 * k, 2 * sizeof(T));
    std::memcpy(one[1], in + 2 * (half - k), 2 * sizeof(T));
    std::memcpy(one[2], roots + 2 * k, 2 * sizeof(T));
    Cx<T> low = load_pairs(one[0]), high = load_pairs(one[1]);
    f(low, high, load_pairs(one[2]));
    store_pairs(low, one[0]);
    store_pairs(high, one[1]);
    std::memcpy(out + 2 * k, one[0], 2 * sizeof(T));
    std::memcpy(out + 2 * (half - k), one[1], 2 * sizeof(T));
  }
}

template <class T>
void untangle(T* z, int64_t half, int64_t begin, int64_t end, const T* roots, T scale) {
  const auto half_scale = hn::Set(Tag<T>(), scale / 2);
  for_pairs(z, z, half, begin, end, roots,
            [&](Cx<T>& low, Cx<T>& high, Cx<T> root) { untangle_pair(low, high, root, half_scale); });
}
template <class T>
void untangle_inverse(const T* x, T* z, int64_t half, int64_t begin, int64_t end, const T* roots) {
  for_pairs(x, z, half, begin, end, roots,
            [](Cx<T>& low, Cx<T>& high, Cx<T> root) { tangle_pair(low, high, root); });
}

template <class T>
const FftKernels<T>& kernels() {
  static constexpr FftKernels<T> table{kLanes<T>,     load_rows<T>, load_times<T>, pass<T>,
                                       store_rows<T>, multiply<T>,  untangle<T>,   untangle_inverse<T>};
  return table;
}
const FftKernels<float>& kernels_f32() { return kernels<float>(); }
const FftKernels<double>& kernels_f64() { return kernels<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(kernels_f32);
HWY_EXPORT(kernels_f64);

template <>
const FftKernels<float>& fft_kernels<float>() {
  return HWY_DYNAMIC_DISPATCH(kernels_f32)();
}
template <>
const FftKernels<double>& fft_kernels<double>() {
  return HWY_DYNAMIC_DISPATCH(kernels_f64)();
}

}  // namespace lunagrad
#endif
