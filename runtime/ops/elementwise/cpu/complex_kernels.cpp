#include "runtime/ops/elementwise/cpu/complex_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/elementwise/cpu/complex_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "runtime/elementwise/row_list.h"
#include "runtime/ops/elementwise/cpu/complex.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

#include "runtime/elementwise/rows.h"

template <class T>
HWY_INLINE Complex<T> load(const T* from) {
  const hn::ScalableTag<T> d;
  auto re = hn::Zero(d), im = re;
  hn::LoadInterleaved2(d, from, re, im);
  return {re, im};
}
template <class T>
HWY_INLINE void store(Complex<T> z, T* to) {
  hn::StoreInterleaved2(z.re.v, z.im.v, hn::ScalableTag<T>(), to);
}
template <class T>
HWY_INLINE void store(Vector<T> x, T* to) {
  hn::StoreU(x.v, hn::ScalableTag<T>(), to);
}
template <class T>
HWY_INLINE void store(Mask<T> x, uint8_t* to) {
  uint8_t bits[8] = {};
  hn::StoreMaskBits(hn::ScalableTag<T>(), x.m, bits);
  for (size_t i = 0; i < HWY_LANES(T); ++i) to[i] = bits[i / 8] >> i % 8 & 1;
}

// The type that a result is stored as, and the number of its values per element.
template <class R>
struct Stored;
template <class T>
struct Stored<Complex<T>> {
  using type = T;
  static constexpr int64_t parts = 2;
};
template <class T>
struct Stored<Vector<T>> {
  using type = T;
  static constexpr int64_t parts = 1;
};
template <class T>
struct Stored<Mask<T>> {
  using type = uint8_t;
  static constexpr int64_t parts = 1;
};

// Calls f with a vector of elements of each of N operands, and stores the result. Partial vectors and
// operands of step 0 go through buffers; an operand of step 0 is read from its buffer each time.
template <class T, class F, size_t... I>
HWY_INLINE void for_each_vector(const Stretch& s, const F& f, std::index_sequence<I...>) {
  constexpr int64_t kLanes = int64_t(HWY_LANES(T));
  HWY_ALIGN T buffer[sizeof...(I)][2 * HWY_LANES(T)] = {};
  const T* at[] = {static_cast<const T*>(s.in[I])...};
  const int64_t step[] = {2 * s.step[I] * kLanes...};
  const auto repeat = [&](size_t i) {
    if (step[i] != 0) return;
    for (int64_t k = 0; k < 2 * kLanes; k += 2) std::memcpy(buffer[i] + k, s.in[i], 2 * sizeof(T));
    at[i] = buffer[i];
  };
  (repeat(I), ...);
  using Result = Stored<decltype(f(Complex<T>(double(I))...))>;
  using Out = typename Result::type;
  Out* out = static_cast<Out*>(s.out);
  int64_t left = s.count;
  for (; left >= kLanes; left -= kLanes, out += Result::parts * kLanes) {
    store(f(load(at[I])...), out);
    ((at[I] += step[I]), ...);
  }
  if (left <= 0) return;
  const auto fill = [&](size_t i) {
    if (step[i] != 0) std::memcpy(buffer[i], at[i], size_t(2 * left) * sizeof(T));
  };
  (fill(I), ...);
  HWY_ALIGN Out results[2 * HWY_LANES(T)];
  store(f(load(static_cast<const T*>(buffer[I]))...), results);
  std::memcpy(out, results, size_t(Result::parts * left) * sizeof(Out));
}

// The value column of a row; the real-valued rows have their own formulas for complex numbers.
template <class R, class T>
struct RowValue {
  using C = Complex<T>;
  typename R::template Params<C> p;
  HWY_INLINE auto operator()(C x) const {
    if constexpr (std::is_same_v<R, abs_row>)
      return magnitude(x);
    else if constexpr (std::is_same_v<R, norm_sq_row>)
      return norm_sq(x);
    else
      return R::value(x, x, x, p);
  }
  HWY_INLINE auto operator()(C a, C b) const { return R::value(a, b, b, p); }
  HWY_INLINE auto operator()(C a, C b, C c) const { return R::value(a, b, c, p); }
};
// The tape keeps dL/dRe - i dL/dIm, so the gradient columns of holomorphic rows hold for complex numbers. The
// gradient of |z| is g conj(z) / |z|, 0 at 0; the gradient of |z|^2 is 2 g conj(z).
template <class R, int I, class T>
struct RowGradient {
  using C = Complex<T>;
  typename R::template Params<C> p;
  HWY_INLINE C operator()(C g, C x, C y) const {
    if constexpr (std::is_same_v<R, abs_row>) {
      const C size = abs(x);
      return sel(size == C(0), size, g * (conj(x) / size));
    } else if constexpr (std::is_same_v<R, norm_sq_row>) {
      return C(2) * g * conj(x);
    } else {
      return R::template gradient<I>(g, x, x, x, y, p);
    }
  }
  HWY_INLINE C operator()(C g, C a, C b, C y) const { return R::template gradient<I>(g, a, b, b, y, p); }
  HWY_INLINE C operator()(C g, C a, C b, C c, C y) const { return R::template gradient<I>(g, a, b, c, y, p); }
};

template <class T>
using Number = Complex<T>;
constexpr bool has_kernels(Row row, RowTypes) { return takes_complex(row); }

#include "runtime/ops/elementwise/cpu/row_table.h"

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(target_kernels);

const RowKernels& complex_kernels(int row) { return HWY_DYNAMIC_DISPATCH(target_kernels)()[row]; }

}  // namespace lunagrad
#endif
