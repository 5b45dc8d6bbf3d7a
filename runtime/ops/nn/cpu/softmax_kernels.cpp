#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/softmax_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/math.h"
#include "runtime/ops/nn/cpu/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Elements that a lane sums in T before these partial sums are added in f64. More elements would lose
// precision.
constexpr int64_t kPart = 256;

// Loads the first n lanes from memory and sets the others to `rest`, without reading beyond the n elements.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* x, int64_t n, T rest) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  const auto mask = hn::FirstN(d, size_t(n));
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, x), hn::Set(d, rest));
#else
  HWY_ALIGN T padded[hn::MaxLanes(D())];
  std::fill(std::copy_n(x, n, padded), padded + hn::Lanes(d), rest);
  return hn::Load(d, padded);
#endif
}

template <class D, class T>
HWY_INLINE void store_first(D d, hn::Vec<D> v, T* out, int64_t n) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  hn::BlendedStore(v, hn::FirstN(d, size_t(n)), d, out);
#else
  HWY_ALIGN T padded[hn::MaxLanes(D())];
  hn::Store(v, d, padded);
  std::copy_n(padded, n, out);
#endif
}

// The largest element. The result for a row with NaN may ignore the NaN.
template <class T>
T largest(const T* x, int64_t n) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const T lowest = -std::numeric_limits<T>::infinity();
  auto m0 = hn::Set(d, lowest), m1 = m0, m2 = m0, m3 = m0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    m0 = hn::Max(hn::LoadU(d, x + i), m0);
    m1 = hn::Max(hn::LoadU(d, x + i + lanes), m1);
    m2 = hn::Max(hn::LoadU(d, x + i + 2 * lanes), m2);
    m3 = hn::Max(hn::LoadU(d, x + i + 3 * lanes), m3);
  }
  for (; i + lanes <= n; i += lanes) m0 = hn::Max(hn::LoadU(d, x + i), m0);
  if (i < n) m1 = hn::Max(load_first(d, x + i, n - i, lowest), m1);
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
}

// Computes f(d, vector of a, vector of b) along a row. Stores the results in out if `store`; returns their
// sum if `total`: in T within parts, in f64 across parts. The last vector may be partial.
template <bool store, bool total, class T, class F>
HWY_INLINE double map_row(const T* a, const T* b, int64_t n, T* out, F&& f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  double result = 0;
  int64_t i = 0;
  while (i + lanes <= n) {
    const int64_t end = std::min(n, i + kPart * lanes);
    auto s0 = hn::Zero(d), s1 = s0;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      const auto v0 = f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i));
      const auto v1 = f(d, hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes));
      if constexpr (store) hn::StoreU(v0, d, out + i);
      if constexpr (store) hn::StoreU(v1, d, out + i + lanes);
      if constexpr (total) s0 = hn::Add(s0, v0);
      if constexpr (total) s1 = hn::Add(s1, v1);
    }
    for (; i + lanes <= end; i += lanes) {
      const auto v = f(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i));
      if constexpr (store) hn::StoreU(v, d, out + i);
      if constexpr (total) s0 = hn::Add(s0, v);
    }
    if constexpr (total) result += double(hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1))));
  }
  if (i == n) return result;
  const auto v = f(d, load_first(d, a + i, n - i, T(0)), load_first(d, b + i, n - i, T(0)));
  if constexpr (total)
    result += double(hn::GetLane(hn::SumOfLanes(d, hn::IfThenElseZero(hn::FirstN(d, size_t(n - i)), v))));
  if constexpr (store) store_first(d, v, out + i, n - i);
  return result;
}

// Sum of exp(x - m); writes the terms to out if `store`.
template <bool store, class T>
double sum_of_exps(const T* x, T m, int64_t n, T* out) {
  return map_row<store, true>(
      x, x, n, out, [=](auto d, auto v, auto) HWY_ATTR { return math::exp(d, hn::Sub(v, hn::Set(d, m))); });
}

template <class T>
void softmax(const T* x, int64_t n, T* out) {
  const T scale = T(1 / sum_of_exps<true>(x, largest(x, n), n, out));
  map_row<true, false>(out, out, n, out,
                       [=](auto d, auto v, auto) HWY_ATTR { return hn::Mul(v, hn::Set(d, scale)); });
}

template <class T>
void log_softmax(const T* x, int64_t n, T* out) {
  const T m = largest(x, n);
  const T rest = T(std::log(sum_of_exps<false>(x, m, n, out)));
  map_row<true, false>(x, x, n, out, [=](auto d, auto v, auto) HWY_ATTR {
    return hn::Sub(hn::Sub(v, hn::Set(d, m)), hn::Set(d, rest));
  });
}

template <class T>
double logsumexp(const T* x, int64_t n) {
  const T m = largest(x, n);
  return double(m) + std::log(sum_of_exps<false>(x, m, n, static_cast<T*>(nullptr)));
}

// Whether the results of a row are unused: all their gradients are 0. Then the row's gradient is 0 even if
// the row is NaN, for example because all its elements are masked with -inf.
template <class T>
bool is_unused(const T* g, int64_t n, int64_t step) {
  for (int64_t i = 0; i < n; ++i)
    if (!(g[i * step] == 0)) return false;
  return true;
}

template <class T>
void softmax_grad(const T* g, const T* y, int64_t n, T* out) {
  const T dot =
      T(map_row<false, true>(g, y, n, out, [](auto, auto vg, auto vy) HWY_ATTR { return hn::Mul(vg, vy); }));
  if (std::isnan(dot) && is_unused(g, n, 1)) return void(std::fill_n(out, n, T(0)));
  map_row<true, false>(g, y, n, out, [=](auto d, auto vg, auto vy) HWY_ATTR {
    return hn::Mul(vy, hn::Sub(vg, hn::Set(d, dot)));
  });
}

template <class T>
void log_softmax_grad(const T* g, const T* y, int64_t n, T* out) {
  const T sum = T(map_row<false, true>(g, g, n, out, [](auto, auto vg, auto) HWY_ATTR { return vg; }));
  if (sum == 0 && is_unused(g, n, 1)) return void(std::copy_n(g, n, out));
  map_row<true, false>(g, y, n, out, [=](auto d, auto vg, auto vy) HWY_ATTR {
    return hn::Sub(vg, hn::Mul(math::exp(d, vy), hn::Set(d, sum)));
  });
}

template <class T>
void scaled_exp(const T* x, double lse, double scale, int64_t n, T* out) {
  const T shift = T(lse), factor = T(scale);
  map_row<true, false>(x, x, n, out, [=](auto d, auto v, auto) HWY_ATTR {
    return hn::Mul(math::exp(d, hn::Sub(v, hn::Set(d, shift))), hn::Set(d, factor));
  });
}

// --- columns ---

constexpr int64_t kRows = 16;  // rows that are processed together, while they are in the cache

// A compensated sum: the second vector holds the rounding error of the first.
template <class V>
HWY_INLINE void add_exactly(V& sum, V& rest, V term) {
  const V next = hn::Add(sum, term), shown = hn::Sub(next, sum);
  rest = hn::Add(rest, hn::Add(hn::Sub(sum, hn::Sub(next, shown)), hn::Sub(term, shown)));
  sum = next;
}

// Calls f(first column, load, store) for vectors of adjacent columns; load(row pointer) and store(v, row
// pointer) handle a partial last vector.
template <class T, class F>
HWY_INLINE void for_columns(int64_t columns, F&& f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes)
    f(
        c, [&](const T* at) HWY_ATTR { return hn::LoadU(d, at); },
        [&](hn::Vec<decltype(d)> v, T* at) HWY_ATTR { hn::StoreU(v, d, at); });
  if (c < columns)
    f(
        c, [&](const T* at) HWY_ATTR { return load_first(d, at, columns - c, T(0)); },
        [&](hn::Vec<decltype(d)> v, T* at) HWY_ATTR { store_first(d, v, at, columns - c); });
}

// For each column the maximum and the sum of exp(x - maximum), updated row by row: a new maximum rescales the
// sum. Reads memory once. The maximum starts as a finite number, so that its exp is 0 instead of NaN.
template <class T>
void largest_and_sums(const T* x, int64_t n, int64_t stride, int64_t columns, T* largest, T* sums) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T rests[kSoftmaxColumns] = {};
  std::fill_n(largest, columns, std::numeric_limits<T>::lowest());
  std::fill_n(sums, columns, T(0));
  for (int64_t first = 0; first < n; first += kRows) {
    const T* const rows = x + first * stride;
    const int64_t count = std::min(kRows, n - first);
    for_columns<T>(columns, [&](int64_t c, auto load, auto store) HWY_ATTR {
      const auto before = load(largest + c);
      auto m = before;
      for (int64_t r = 0; r < count; ++r) m = hn::Max(load(rows + r * stride + c), m);
      auto total = hn::Zero(d);
      for (int64_t r = 0; r < count; ++r)
        total = hn::Add(total, math::exp(d, hn::Sub(load(rows + r * stride + c), m)));
      const auto scale = math::exp(d, hn::Sub(before, m));
      auto sum = hn::Mul(load(sums + c), scale), rest = hn::Mul(load(rests + c), scale);
      add_exactly(sum, rest, total);
      store(m, largest + c);
      store(sum, sums + c);
      store(rest, rests + c);
    });
  }
  for (int64_t c = 0; c < columns; ++c) sums[c] += rests[c];
}

template <class T>
void softmax_of_columns(const T* x, int64_t n, int64_t stride, int64_t columns, T* out) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T largest[kSoftmaxColumns], scales[kSoftmaxColumns];
  largest_and_sums(x, n, stride, columns, largest, scales);
  for (int64_t c = 0; c < columns; ++c) scales[c] = 1 / scales[c];
  for (int64_t r = 0; r < n; ++r)
    for_columns<T>(columns, [&](int64_t c, auto load, auto store) HWY_ATTR {
      const auto v = math::exp(d, hn::Sub(load(x + r * stride + c), load(largest + c)));
      store(hn::Mul(v, load(scales + c)), out + r * stride + c);
    });
}

template <class T>
void log_softmax_of_columns(const T* x, int64_t n, int64_t stride, int64_t columns, T* out) {
  HWY_ALIGN T largest[kSoftmaxColumns], rest[kSoftmaxColumns];
  largest_and_sums(x, n, stride, columns, largest, rest);
  for (int64_t c = 0; c < columns; ++c) rest[c] = std::log(rest[c]);
  for (int64_t r = 0; r < n; ++r)
    for_columns<T>(columns, [&](int64_t c, auto load, auto store) HWY_ATTR {
      store(hn::Sub(hn::Sub(load(x + r * stride + c), load(largest + c)), load(rest + c)),
            out + r * stride + c);
    });
}

// For each column the sum of term(g, y).
template <class T, class Term>
HWY_INLINE void sums_of_columns(const T* g, const T* y, int64_t n, int64_t stride, int64_t columns, T* sums,
                                Term&& term) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T rests[kSoftmaxColumns] = {};
  std::fill_n(sums, columns, T(0));
  for (int64_t first = 0; first < n; first += kRows)
    for_columns<T>(columns, [&](int64_t c, auto load, auto store) HWY_ATTR {
      auto total = hn::Zero(d);
      for (int64_t r = first; r < std::min(n, first + kRows); ++r)
        total = hn::Add(total, term(load(g + r * stride + c), load(y + r * stride + c)));
      auto sum = load(sums + c), rest = load(rests + c);
      add_exactly(sum, rest, total);
      store(sum, sums + c);
      store(rest, rests + c);
    });
  for (int64_t c = 0; c < columns; ++c) sums[c] += rests[c];
}

template <class T>
void softmax_grad_of_columns(const T* g, const T* y, int64_t n, int64_t stride, int64_t columns, T* out) {
  HWY_ALIGN T dots[kSoftmaxColumns];
  sums_of_columns(g, y, n, stride, columns, dots, [](auto vg, auto vy) HWY_ATTR { return hn::Mul(vg, vy); });
  for (int64_t r = 0; r < n; ++r)
    for_columns<T>(columns, [&](int64_t c, auto load, auto store) HWY_ATTR {
      const auto vg = load(g + r * stride + c), vy = load(y + r * stride + c);
      store(hn::Mul(vy, hn::Sub(vg, load(dots + c))), out + r * stride + c);
    });
  for (int64_t c = 0; c < columns; ++c)
    if (std::isnan(dots[c]) && is_unused(g + c, n, stride))
      for (int64_t r = 0; r < n; ++r) out[r * stride + c] = 0;
}

template <class T>
void log_softmax_grad_of_columns(const T* g, const T* y, int64_t n, int64_t stride, int64_t columns, T* out) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T sums[kSoftmaxColumns];
  sums_of_columns(g, g, n, stride, columns, sums, [](auto vg, auto) HWY_ATTR { return vg; });
  for (int64_t r = 0; r < n; ++r)
    for_columns<T>(columns, [&](int64_t c, auto load, auto store) HWY_ATTR {
      const auto share = hn::Mul(math::exp(d, load(y + r * stride + c)), load(sums + c));
      store(hn::Sub(load(g + r * stride + c), share), out + r * stride + c);
    });
  for (int64_t c = 0; c < columns; ++c)
    if (sums[c] == 0 && std::isnan(y[c]) && is_unused(g + c, n, stride))
      for (int64_t r = 0; r < n; ++r) out[r * stride + c] = g[r * stride + c];
}

#define LUNAGRAD_NAMES(T, name)                                                                            \
  void Softmax##name(const T* x, int64_t n, T* out) { softmax(x, n, out); }                                \
  void LogSoftmax##name(const T* x, int64_t n, T* out) { log_softmax(x, n, out); }                         \
  double Logsumexp##name(const T* x, int64_t n) { return logsumexp(x, n); }                                \
  void SoftmaxGrad##name(const T* g, const T* y, int64_t n, T* out) { softmax_grad(g, y, n, out); }        \
  void LogSoftmaxGrad##name(const T* g, const T* y, int64_t n, T* out) { log_softmax_grad(g, y, n, out); } \
  void ScaledExp##name(const T* x, double lse, double scale, int64_t n, T* out) {                          \
    scaled_exp(x, lse, scale, n, out);                                                                     \
  }                                                                                                        \
  void SoftmaxColumns##name(const T* x, int64_t n, int64_t stride, int64_t columns, T* out) {              \
    softmax_of_columns(x, n, stride, columns, out);                                                        \
  }                                                                                                        \
  void SoftmaxGradColumns##name(const T* g, const T* y, int64_t n, int64_t stride, int64_t columns,        \
                                T* out) {                                                                  \
    softmax_grad_of_columns(g, y, n, stride, columns, out);                                                \
  }                                                                                                        \
  void LogSoftmaxColumns##name(const T* x, int64_t n, int64_t stride, int64_t columns, T* out) {           \
    log_softmax_of_columns(x, n, stride, columns, out);                                                    \
  }                                                                                                        \
  void LogSoftmaxGradColumns##name(const T* g, const T* y, int64_t n, int64_t stride, int64_t columns,     \
                                   T* out) {                                                               \
    log_softmax_grad_of_columns(g, y, n, stride, columns, out);                                            \
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

#define LUNAGRAD_CALLS(T, name)                                                                              \
  HWY_EXPORT(Softmax##name);                                                                                 \
  void softmax_row(const T* x, int64_t n, T* out) { HWY_DYNAMIC_DISPATCH(Softmax##name)(x, n, out); }        \
  HWY_EXPORT(LogSoftmax##name);                                                                              \
  void log_softmax_row(const T* x, int64_t n, T* out) { HWY_DYNAMIC_DISPATCH(LogSoftmax##name)(x, n, out); } \
  HWY_EXPORT(Logsumexp##name);                                                                               \
  double logsumexp_row(const T* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(Logsumexp##name)(x, n); }        \
  HWY_EXPORT(SoftmaxGrad##name);                                                                             \
  void softmax_grad_row(const T* g, const T* y, int64_t n, T* out) {                                         \
    HWY_DYNAMIC_DISPATCH(SoftmaxGrad##name)(g, y, n, out);                                                   \
  }                                                                                                          \
  HWY_EXPORT(LogSoftmaxGrad##name);                                                                          \
  void log_softmax_grad_row(const T* g, const T* y, int64_t n, T* out) {                                     \
    HWY_DYNAMIC_DISPATCH(LogSoftmaxGrad##name)(g, y, n, out);                                                \
  }                                                                                                          \
  HWY_EXPORT(ScaledExp##name);                                                                               \
  void scaled_exp_row(const T* x, double lse, double scale, int64_t n, T* out) {                             \
    HWY_DYNAMIC_DISPATCH(ScaledExp##name)(x, lse, scale, n, out);                                            \
  }                                                                                                          \
  HWY_EXPORT(SoftmaxColumns##name);                                                                          \
  void softmax_columns(const T* x, int64_t n, int64_t stride, int64_t columns, T* out) {                     \
    HWY_DYNAMIC_DISPATCH(SoftmaxColumns##name)(x, n, stride, columns, out);                                  \
  }                                                                                                          \
  HWY_EXPORT(SoftmaxGradColumns##name);                                                                      \
  void softmax_grad_columns(const T* g, const T* y, int64_t n, int64_t stride, int64_t columns, T* out) {    \
    HWY_DYNAMIC_DISPATCH(SoftmaxGradColumns##name)(g, y, n, stride, columns, out);                           \
  }                                                                                                          \
  HWY_EXPORT(LogSoftmaxColumns##name);                                                                       \
  void log_softmax_columns(const T* x, int64_t n, int64_t stride, int64_t columns, T* out) {                 \
    HWY_DYNAMIC_DISPATCH(LogSoftmaxColumns##name)(x, n, stride, columns, out);                               \
  }                                                                                                          \
  HWY_EXPORT(LogSoftmaxGradColumns##name);                                                                   \
  void log_softmax_grad_columns(const T* g, const T* y, int64_t n, int64_t stride, int64_t columns,          \
                                T* out) {                                                                    \
    HWY_DYNAMIC_DISPATCH(LogSoftmaxGradColumns##name)(g, y, n, stride, columns, out);                        \
  }
LUNAGRAD_CALLS(float, F32)
LUNAGRAD_CALLS(double, F64)
#undef LUNAGRAD_CALLS

}  // namespace lunagrad
#endif  // HWY_ONCE
