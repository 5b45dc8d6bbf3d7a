#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/softmax_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D d, V v) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = std::exp(lanes[i]);
  return hn::Load(d, lanes);
}

// Elements whose sum is kept in T: what is added up after that is f64.
constexpr int64_t kPart = 4096;

// Calls f(lane tag, at) for whole vectors of 0 … n-1 and then for single elements. Out of line lambdas need
// HWY_ATTR.
template <class T, class F>
HWY_INLINE void for_vectors(int64_t n, F&& f) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(d, i);
  for (; i < n; ++i) f(one, i);
}

// The largest element; a NaN may be passed by.
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
  T result = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

// Sum of f(tag, i) over 0 … n-1, f giving vectors; in T within parts, in f64 across them.
template <class T, class F>
HWY_INLINE double sum_over(int64_t n, F&& f) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = int64_t(hn::Lanes(d));
  double total = 0;
  for (int64_t begin = 0; begin < n; begin += kPart) {
    const int64_t end = std::min(n, begin + kPart);
    auto s0 = hn::Zero(d), s1 = s0;
    int64_t i = begin;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      s0 = hn::Add(s0, f(d, i));
      s1 = hn::Add(s1, f(d, i + lanes));
    }
    for (; i + lanes <= end; i += lanes) s0 = hn::Add(s0, f(d, i));
    auto rest = hn::Zero(one);
    for (; i < end; ++i) rest = hn::Add(rest, f(one, i));
    total += double(hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)))) + double(hn::GetLane(rest));
  }
  return total;
}

// Sum of exp(x - m), and the terms themselves where `terms` is given.
template <class T>
double sum_of_exps(const T* x, T m, int64_t n, T* terms) {
  return sum_over<T>(n, [=](auto d, int64_t i) HWY_ATTR {
    const auto e = Exp(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, m)));
    if (terms) hn::StoreU(e, d, terms + i);
    return e;
  });
}

template <class T>
void softmax(const T* x, int64_t n, T* out) {
  const T scale = T(1 / sum_of_exps(x, largest(x, n), n, out));
  for_vectors<T>(n, [=](auto d, int64_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, out + i), hn::Set(d, scale)), d, out + i);
  });
}

template <class T>
void log_softmax(const T* x, int64_t n, T* out) {
  const T m = largest(x, n);
  const T rest = T(std::log(sum_of_exps<T>(x, m, n, nullptr)));
  for_vectors<T>(n, [=](auto d, int64_t i) HWY_ATTR {
    hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, x + i), hn::Set(d, m)), hn::Set(d, rest)), d, out + i);
  });
}

template <class T>
double logsumexp(const T* x, int64_t n) {
  const T m = largest(x, n);
  return double(m) + std::log(sum_of_exps<T>(x, m, n, nullptr));
}

template <class T>
void softmax_grad(const T* g, const T* y, int64_t n, T* out) {
  const T dot = T(sum_over<T>(
      n, [=](auto d, int64_t i) HWY_ATTR { return hn::Mul(hn::LoadU(d, g + i), hn::LoadU(d, y + i)); }));
  for_vectors<T>(n, [=](auto d, int64_t i) HWY_ATTR {
    const auto difference = hn::Sub(hn::LoadU(d, g + i), hn::Set(d, dot));
    hn::StoreU(hn::Mul(hn::LoadU(d, y + i), difference), d, out + i);
  });
}

template <class T>
void log_softmax_grad(const T* g, const T* y, int64_t n, T* out) {
  const T sum = T(sum_over<T>(n, [=](auto d, int64_t i) HWY_ATTR { return hn::LoadU(d, g + i); }));
  for_vectors<T>(n, [=](auto d, int64_t i) HWY_ATTR {
    const auto share = hn::Mul(Exp(d, hn::LoadU(d, y + i)), hn::Set(d, sum));
    hn::StoreU(hn::Sub(hn::LoadU(d, g + i), share), d, out + i);
  });
}

template <class T>
void scaled_exp(const T* x, double lse, double scale, int64_t n, T* out) {
  const T shift = T(lse), factor = T(scale);
  for_vectors<T>(n, [=](auto d, int64_t i) HWY_ATTR {
    const auto e = Exp(d, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, shift)));
    hn::StoreU(hn::Mul(e, hn::Set(d, factor)), d, out + i);
  });
}

void SoftmaxF32(const float* x, int64_t n, float* out) { softmax(x, n, out); }
void SoftmaxF64(const double* x, int64_t n, double* out) { softmax(x, n, out); }
void LogSoftmaxF32(const float* x, int64_t n, float* out) { log_softmax(x, n, out); }
void LogSoftmaxF64(const double* x, int64_t n, double* out) { log_softmax(x, n, out); }
double LogsumexpF32(const float* x, int64_t n) { return logsumexp(x, n); }
double LogsumexpF64(const double* x, int64_t n) { return logsumexp(x, n); }
void SoftmaxGradF32(const float* g, const float* y, int64_t n, float* out) { softmax_grad(g, y, n, out); }
void SoftmaxGradF64(const double* g, const double* y, int64_t n, double* out) { softmax_grad(g, y, n, out); }
void LogSoftmaxGradF32(const float* g, const float* y, int64_t n, float* out) {
  log_softmax_grad(g, y, n, out);
}
void LogSoftmaxGradF64(const double* g, const double* y, int64_t n, double* out) {
  log_softmax_grad(g, y, n, out);
}
void ScaledExpF32(const float* x, double lse, double scale, int64_t n, float* out) {
  scaled_exp(x, lse, scale, n, out);
}
void ScaledExpF64(const double* x, double lse, double scale, int64_t n, double* out) {
  scaled_exp(x, lse, scale, n, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(SoftmaxF32);
HWY_EXPORT(SoftmaxF64);
HWY_EXPORT(LogSoftmaxF32);
HWY_EXPORT(LogSoftmaxF64);
HWY_EXPORT(LogsumexpF32);
HWY_EXPORT(LogsumexpF64);
HWY_EXPORT(SoftmaxGradF32);
HWY_EXPORT(SoftmaxGradF64);
HWY_EXPORT(LogSoftmaxGradF32);
HWY_EXPORT(LogSoftmaxGradF64);
HWY_EXPORT(ScaledExpF32);
HWY_EXPORT(ScaledExpF64);

void softmax_row(const float* x, int64_t n, float* out) { HWY_DYNAMIC_DISPATCH(SoftmaxF32)(x, n, out); }
void softmax_row(const double* x, int64_t n, double* out) { HWY_DYNAMIC_DISPATCH(SoftmaxF64)(x, n, out); }
void log_softmax_row(const float* x, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxF32)(x, n, out);
}
void log_softmax_row(const double* x, int64_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxF64)(x, n, out);
}
double logsumexp_row(const float* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(LogsumexpF32)(x, n); }
double logsumexp_row(const double* x, int64_t n) { return HWY_DYNAMIC_DISPATCH(LogsumexpF64)(x, n); }
void softmax_grad_row(const float* g, const float* y, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(SoftmaxGradF32)(g, y, n, out);
}
void softmax_grad_row(const double* g, const double* y, int64_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(SoftmaxGradF64)(g, y, n, out);
}
void log_softmax_grad_row(const float* g, const float* y, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxGradF32)(g, y, n, out);
}
void log_softmax_grad_row(const double* g, const double* y, int64_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxGradF64)(g, y, n, out);
}
void scaled_exp_row(const float* x, double lse, double scale, int64_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(ScaledExpF32)(x, lse, scale, n, out);
}
void scaled_exp_row(const double* x, double lse, double scale, int64_t n, double* out) {
  HWY_DYNAMIC_DISPATCH(ScaledExpF64)(x, lse, scale, n, out);
}

}  // namespace lunagrad
#endif  // HWY_ONCE
