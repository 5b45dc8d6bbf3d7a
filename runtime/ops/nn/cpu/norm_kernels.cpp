// The rows of norm.h. A second pass computes the variance as the mean of (x - mean)^2: E[x^2] - E[x]^2 loses
// all digits where the mean is large.
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/norm_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/loops.h"
#include "runtime/cpu/range.h"
#include "runtime/ops/nn/cpu/norm.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Calls f(tag, i, accumulator…) over [0, n) and returns the sum of its results, accumulated in four vectors.
template <class T, class F>
HWY_INLINE T sum_over(int64_t n, F&& f) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = int64_t(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = f(d, i, s0);
    s1 = f(d, i + lanes, s1);
    s2 = f(d, i + 2 * lanes, s2);
    s3 = f(d, i + 3 * lanes, s3);
  }
  for (; i + lanes <= n; i += lanes) s0 = f(d, i, s0);
  auto rest = hn::Zero(one);
  for (; i < n; ++i) rest = f(one, i, rest);
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)))) + hn::GetLane(rest);
}

// A row as the loops read it: unchanged, or times a power of two (range.h).
template <bool scaled, class T>
struct Row {
  const T* x;
  T factor;
  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, int64_t i) const {
    const auto v = hn::LoadU(d, x + i);
    if constexpr (scaled)
      return hn::Mul(v, hn::Set(d, factor));
    else
      return v;
  }
};

template <class T>
struct Moments {
  T mean;
  double square;  // the variance, or the mean square, plus eps
  T rstd() const { return T(1 / std::sqrt(square)); }
};

// `centred`: relative to the mean (layer_norm), else to 0 (rms_norm).
template <bool centred, bool scaled, class T>
Moments<T> moments(int64_t n, const Row<scaled, T>& row, double eps) {
  T mean = 0;
  if constexpr (centred) {
    // Relative to the first element, so that the mean of equal numbers is exact: 1 / sqrt(eps) would magnify
    // a rounding error. When the first element is far from the mean, the mean of the differences corrects the
    // rounding.
    const auto mean_above = [&](T from) HWY_ATTR {
      return sum_over<T>(n, [&](auto d, int64_t i, auto s)
                                HWY_ATTR { return hn::Add(s, hn::Sub(row.at(d, i), hn::Set(d, from))); }) /
             T(n);
    };
    const T first = n > 0 && std::isfinite(row.x[0]) ? row.x[0] * row.factor : 0;
    mean = first + mean_above(first);
    if (std::isfinite(mean)) mean += mean_above(mean);
  }
  const T squares = sum_over<T>(n, [&](auto d, int64_t i, auto s) HWY_ATTR {
    auto c = row.at(d, i);
    if constexpr (centred) c = hn::Sub(c, hn::Set(d, mean));
    return hn::MulAdd(c, c, s);
  });
  return {mean, double(squares / T(n)) + eps};
}

// Calls f(row, its moments). The row is scaled if its squares are out of range.
template <bool centred, class T, class F>
HWY_INLINE void with_moments(int64_t n, const T* x, double eps, F&& f) {
  const Row<false, T> row{x, 1};
  const Moments<T> m = moments<centred>(n, row, eps);
  if (HWY_LIKELY(SquareRange<T>::holds(m.square))) return f(row, m);
  const T factor = SquareRange<T>::factor(m.square);
  const Row<true, T> scaled{x, factor};
  f(scaled, moments<centred>(n, scaled, eps * double(factor) * double(factor)));
}

template <bool centred, class T>
void forward(int64_t n, const T* x, const T* weight, const T* bias, double eps, T* y) {
  with_moments<centred>(n, x, eps, [&](const auto& row, const Moments<T>& m) HWY_ATTR {
    const T rstd = m.rstd();
    for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
      auto v = row.at(d, i);
      if constexpr (centred) v = hn::Sub(v, hn::Set(d, m.mean));
      v = hn::Mul(v, hn::Set(d, rstd));
      if (weight) v = hn::Mul(v, hn::LoadU(d, weight + i));
      if (bias) v = hn::Add(v, hn::LoadU(d, bias + i));
      hn::StoreU(v, d, y + i);
    });
  });
}

// With xhat = (x - mean) rstd and h = g weight:
//   dx = rstd (h - mean(h) - xhat mean(h xhat)),  dweight += g xhat,  dbias += g
// Without mean(h) when x is not centred. The rstd of x is the scaled row's rstd times the factor.
template <bool centred, bool scaled, class T>
void row_backward(int64_t n, const T* g, const Row<scaled, T>& row, const Moments<T>& m, const T* weight,
                  T* dx, T* dweight, T* dbias) {
  const T rstd = m.rstd();
  const auto xhat = [&](auto d, int64_t i) HWY_ATTR {
    auto v = row.at(d, i);
    if constexpr (centred) v = hn::Sub(v, hn::Set(d, m.mean));
    return hn::Mul(v, hn::Set(d, rstd));
  };
  const auto h = [&](auto d, int64_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, g + i);
    return weight ? hn::Mul(v, hn::LoadU(d, weight + i)) : v;
  };
  if (dx) {
    T mean_h = 0;
    if constexpr (centred)
      mean_h = sum_over<T>(n, [&](auto d, int64_t i, auto s) HWY_ATTR { return hn::Add(s, h(d, i)); }) / T(n);
    const T mean_hx = sum_over<T>(n, [&](auto d, int64_t i, auto s)
                                         HWY_ATTR { return hn::MulAdd(h(d, i), xhat(d, i), s); }) /
                      T(n);
    for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
      const auto rest = hn::Sub(h(d, i), hn::Set(d, mean_h));
      auto v = hn::Mul(hn::Set(d, rstd), hn::NegMulAdd(xhat(d, i), hn::Set(d, mean_hx), rest));
      if constexpr (scaled) v = hn::Mul(v, hn::Set(d, row.factor));
      hn::StoreU(v, d, dx + i);
    });
  }
  if (dweight)
    for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
      hn::StoreU(hn::MulAdd(hn::LoadU(d, g + i), xhat(d, i), hn::LoadU(d, dweight + i)), d, dweight + i);
    });
  if (dbias)
    for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, g + i), hn::LoadU(d, dbias + i)), d, dbias + i);
    });
}

template <bool centred, class T>
void backward(int64_t n, const T* g, const T* x, const T* weight, double eps, T* dx, T* dweight, T* dbias) {
  with_moments<centred>(n, x, eps, [&](const auto& row, const Moments<T>& m) HWY_ATTR {
    row_backward<centred>(n, g, row, m, weight, dx, dweight, dbias);
  });
}

#define LUNAGRAD_NAMES(T, name)                                                                          \
  void Layer##name(int64_t n, const T* x, const T* w, const T* b, double eps, T* y) {                    \
    forward<true>(n, x, w, b, eps, y);                                                                   \
  }                                                                                                      \
  void Rms##name(int64_t n, const T* x, const T* w, double eps, T* y) {                                  \
    forward<false, T>(n, x, w, nullptr, eps, y);                                                         \
  }                                                                                                      \
  void LayerGrad##name(int64_t n, const T* g, const T* x, const T* w, double eps, T* dx, T* dw, T* db) { \
    backward<true>(n, g, x, w, eps, dx, dw, db);                                                         \
  }                                                                                                      \
  void RmsGrad##name(int64_t n, const T* g, const T* x, const T* w, double eps, T* dx, T* dw) {          \
    backward<false, T>(n, g, x, w, eps, dx, dw, nullptr);                                                \
  }
LUNAGRAD_NAMES(float, F32)
LUNAGRAD_NAMES(double, F64)
#undef LUNAGRAD_NAMES

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

#define LUNAGRAD_FUNCTIONS(T, name)                                                               \
  namespace {                                                                                     \
  HWY_EXPORT(Layer##name);                                                                        \
  HWY_EXPORT(Rms##name);                                                                          \
  HWY_EXPORT(LayerGrad##name);                                                                    \
  HWY_EXPORT(RmsGrad##name);                                                                      \
  }                                                                                               \
  template <>                                                                                     \
  void layer_norm_row(int64_t n, const T* x, const T* weight, const T* bias, double eps, T* y) {  \
    HWY_DYNAMIC_DISPATCH(Layer##name)(n, x, weight, bias, eps, y);                                \
  }                                                                                               \
  template <>                                                                                     \
  void rms_norm_row(int64_t n, const T* x, const T* weight, double eps, T* y) {                   \
    HWY_DYNAMIC_DISPATCH(Rms##name)(n, x, weight, eps, y);                                        \
  }                                                                                               \
  template <>                                                                                     \
  void layer_norm_grad_row(int64_t n, const T* g, const T* x, const T* weight, double eps, T* dx, \
                           T* dweight, T* dbias) {                                                \
    HWY_DYNAMIC_DISPATCH(LayerGrad##name)(n, g, x, weight, eps, dx, dweight, dbias);              \
  }                                                                                               \
  template <>                                                                                     \
  void rms_norm_grad_row(int64_t n, const T* g, const T* x, const T* weight, double eps, T* dx,   \
                         T* dweight) {                                                            \
    HWY_DYNAMIC_DISPATCH(RmsGrad##name)(n, g, x, weight, eps, dx, dweight);                       \
  }
LUNAGRAD_FUNCTIONS(float, F32)
LUNAGRAD_FUNCTIONS(double, F64)
#undef LUNAGRAD_FUNCTIONS

}  // namespace lunagrad
#endif
