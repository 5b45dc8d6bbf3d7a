// The loops of channel_norm.h. Sums accumulate in T for at most kPart elements per lane, and then in f64.
// Sums for means are relative to their first element, so that the mean of equal numbers is exact: 1 /
// sqrt(eps) would magnify a rounding error.
#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/channel_norm_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/loops.h"
#include "runtime/ops/nn/cpu/channel_norm.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kPart = 256, kRowsOfPart = 64;

// Calls f(tag, i, s0, s1), which adds element(s) i to both sums, over [0, n); out[k] += sum k.
template <class T, class F>
HWY_INLINE void two_sums(int64_t n, double* out, F&& f) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  while (i + lanes <= n) {
    const int64_t end = std::min(n, i + kPart * lanes);
    auto a0 = hn::Zero(d), a1 = a0, b0 = a0, b1 = a0;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      f(d, i, a0, b0);
      f(d, i + lanes, a1, b1);
    }
    for (; i + lanes <= end; i += lanes) f(d, i, a0, b0);
    out[0] += double(hn::GetLane(hn::SumOfLanes(d, hn::Add(a0, a1))));
    out[1] += double(hn::GetLane(hn::SumOfLanes(d, hn::Add(b0, b1))));
  }
  auto a = hn::Zero(one), b = a;
  for (; i < n; ++i) f(one, i, a, b);
  out[0] += double(hn::GetLane(a));
  out[1] += double(hn::GetLane(b));
}

template <class T>
double sum(int64_t n, const T* x) {
  const T first = n > 0 && std::isfinite(x[0]) ? x[0] : 0;
  double out[2] = {};
  two_sums<T>(n, out, [&](auto d, int64_t i, auto& s, auto&) HWY_ATTR {
    s = hn::Add(s, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, first)));
  });
  return out[0] + double(n) * double(first);
}

template <class T>
double squares(int64_t n, const T* x, T mean) {
  double out[2] = {};
  two_sums<T>(n, out, [&](auto d, int64_t i, auto& s, auto&) HWY_ATTR {
    const auto c = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    s = hn::MulAdd(c, c, s);
  });
  return out[0];
}

template <class T>
void dot(int64_t n, const T* g, const T* x, T mean, double* out) {
  two_sums<T>(n, out, [&](auto d, int64_t i, auto& s, auto& t) HWY_ATTR {
    const auto v = hn::LoadU(d, g + i);
    s = hn::Add(s, v);
    t = hn::MulAdd(v, hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean)), t);
  });
}

// Calls f(tag, column, row, s0, s1) for kRowsOfPart rows at a time; sums[k][column] += sum k.
template <class T, int count, class F>
HWY_INLINE void column_sums(int64_t rows, int64_t n, double* const (&sums)[count], F&& f) {
  for (int64_t first = 0; first < rows; first += kRowsOfPart) {
    const int64_t end = std::min(rows, first + kRowsOfPart);
    for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
      auto s0 = hn::Zero(d), s1 = s0;
      for (int64_t row = first; row < end; ++row) f(d, i, row, s0, s1);
      HWY_ALIGN T parts[2][hn::MaxLanes(d)];
      hn::Store(s0, d, parts[0]);
      hn::Store(s1, d, parts[1]);
      for (int k = 0; k < count; ++k)
        for (int64_t lane = 0; lane < int64_t(hn::Lanes(d)); ++lane)
          sums[k][i + lane] += double(parts[k][lane]);
    });
  }
}

template <class T>
void sum_down(int64_t rows, int64_t n, int64_t step, const T* x, double* out) {
  if (rows == 0) return;
  const auto first = [&](auto d, int64_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, x + i);
    return hn::IfThenElseZero(hn::IsFinite(v), v);
  };
  column_sums<T, 1>(rows, n, {out}, [&](auto d, int64_t i, int64_t row, auto& s, auto&) HWY_ATTR {
    s = hn::Add(s, hn::Sub(hn::LoadU(d, x + row * step + i), first(d, i)));
  });
  for (int64_t i = 0; i < n; ++i)
    if (std::isfinite(x[i])) out[i] += double(rows) * double(x[i]);
}

template <class T>
void squares_down(int64_t rows, int64_t n, int64_t step, const T* x, const T* mean, double* out) {
  column_sums<T, 1>(rows, n, {out}, [&](auto d, int64_t i, int64_t row, auto& s, auto&) HWY_ATTR {
    const auto c = hn::Sub(hn::LoadU(d, x + row * step + i), hn::LoadU(d, mean + i));
    s = hn::MulAdd(c, c, s);
  });
}

template <class T>
void dot_down(int64_t rows, int64_t n, int64_t step, const T* g, const T* x, const T* mean, double* sum_g,
              double* sum_gx) {
  column_sums<T, 2>(rows, n, {sum_g, sum_gx}, [&](auto d, int64_t i, int64_t row, auto& s, auto& t) HWY_ATTR {
    const auto v = hn::LoadU(d, g + row * step + i);
    s = hn::Add(s, v);
    t = hn::MulAdd(v, hn::Sub(hn::LoadU(d, x + row * step + i), hn::LoadU(d, mean + i)), t);
  });
}

// Calls f(tag, i, read) over [0, n), where read(p) is a parameter for the elements at i.
template <bool across, class T, class F>
HWY_INLINE void map_stretch(int64_t n, F&& f) {
  for_vectors<T>(n, [&](auto tag, int64_t i) HWY_ATTR {
    f(tag, i, [&](const T* p) HWY_ATTR {
      if constexpr (across)
        return hn::LoadU(tag, p + i);
      else
        return hn::Set(tag, *p);
    });
  });
}

template <class T>
void normalize(bool across, int64_t n, const T* x, const T* mean, const T* scale, const T* shift, T* y) {
  const auto f = [&](auto d, int64_t i, auto read) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::Sub(hn::LoadU(d, x + i), read(mean)), read(scale), read(shift)), d, y + i);
  };
  across ? map_stretch<true, T>(n, f) : map_stretch<false, T>(n, f);
}

template <class T>
void normalize_grad(bool across, int64_t n, const T* g, const T* x, const T* mean, const T* a, const T* b,
                    const T* c, T* dx) {
  const auto f = [&](auto d, int64_t i, auto read) HWY_ATTR {
    const auto centred = hn::Sub(hn::LoadU(d, x + i), read(mean));
    const auto rest = hn::MulAdd(centred, read(b), read(c));
    hn::StoreU(hn::MulAdd(hn::LoadU(d, g + i), read(a), rest), d, dx + i);
  };
  across ? map_stretch<true, T>(n, f) : map_stretch<false, T>(n, f);
}

// One name for each type, as HWY_EXPORT requires.
#define LUNAGRAD_TYPES(F) F(float, F32) F(double, F64)
#define LUNAGRAD_NAMES(T, name)                                                                           \
  double Sum##name(int64_t n, const T* x) { return sum(n, x); }                                           \
  double Squares##name(int64_t n, const T* x, T mean) { return squares(n, x, mean); }                     \
  void Dot##name(int64_t n, const T* g, const T* x, T mean, double* out) { dot(n, g, x, mean, out); }     \
  void SumDown##name(int64_t rows, int64_t n, int64_t step, const T* x, double* out) {                    \
    sum_down(rows, n, step, x, out);                                                                      \
  }                                                                                                       \
  void SquaresDown##name(int64_t rows, int64_t n, int64_t step, const T* x, const T* mean, double* out) { \
    squares_down(rows, n, step, x, mean, out);                                                            \
  }                                                                                                       \
  void DotDown##name(int64_t rows, int64_t n, int64_t step, const T* g, const T* x, const T* mean,        \
                     double* sum_g, double* sum_gx) {                                                     \
    dot_down(rows, n, step, g, x, mean, sum_g, sum_gx);                                                   \
  }                                                                                                       \
  void Normalize##name(bool across, int64_t n, const T* x, const T* mean, const T* scale, const T* shift, \
                       T* y) {                                                                            \
    normalize(across, n, x, mean, scale, shift, y);                                                       \
  }                                                                                                       \
  void NormalizeGrad##name(bool across, int64_t n, const T* g, const T* x, const T* mean, const T* a,     \
                           const T* b, const T* c, T* dx) {                                               \
    normalize_grad(across, n, g, x, mean, a, b, c, dx);                                                   \
  }
LUNAGRAD_TYPES(LUNAGRAD_NAMES)
#undef LUNAGRAD_NAMES

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {

#define LUNAGRAD_EXPORTS(T, name) \
  HWY_EXPORT(Sum##name);          \
  HWY_EXPORT(Squares##name);      \
  HWY_EXPORT(Dot##name);          \
  HWY_EXPORT(SumDown##name);      \
  HWY_EXPORT(SquaresDown##name);  \
  HWY_EXPORT(DotDown##name);      \
  HWY_EXPORT(Normalize##name);    \
  HWY_EXPORT(NormalizeGrad##name);
LUNAGRAD_TYPES(LUNAGRAD_EXPORTS)
#undef LUNAGRAD_EXPORTS

}  // namespace

#define LUNAGRAD_FUNCTIONS(T, name)                                                                         \
  template <>                                                                                               \
  double sum_stretch(int64_t n, const T* x) {                                                               \
    return HWY_DYNAMIC_DISPATCH(Sum##name)(n, x);                                                           \
  }                                                                                                         \
  template <>                                                                                               \
  double squares_stretch(int64_t n, const T* x, T mean) {                                                   \
    return HWY_DYNAMIC_DISPATCH(Squares##name)(n, x, mean);                                                 \
  }                                                                                                         \
  template <>                                                                                               \
  void dot_stretch(int64_t n, const T* g, const T* x, T mean, double* out) {                                \
    HWY_DYNAMIC_DISPATCH(Dot##name)(n, g, x, mean, out);                                                    \
  }                                                                                                         \
  template <>                                                                                               \
  void sum_columns(int64_t rows, int64_t n, int64_t step, const T* x, double* sum) {                        \
    HWY_DYNAMIC_DISPATCH(SumDown##name)(rows, n, step, x, sum);                                             \
  }                                                                                                         \
  template <>                                                                                               \
  void squares_columns(int64_t rows, int64_t n, int64_t step, const T* x, const T* mean, double* sum) {     \
    HWY_DYNAMIC_DISPATCH(SquaresDown##name)(rows, n, step, x, mean, sum);                                   \
  }                                                                                                         \
  template <>                                                                                               \
  void dot_columns(int64_t rows, int64_t n, int64_t step, const T* g, const T* x, const T* mean,            \
                   double* sum_g, double* sum_gx) {                                                         \
    HWY_DYNAMIC_DISPATCH(DotDown##name)(rows, n, step, g, x, mean, sum_g, sum_gx);                          \
  }                                                                                                         \
  template <>                                                                                               \
  void normalize_stretch(bool across, int64_t n, const T* x, const T* mean, const T* scale, const T* shift, \
                         T* y) {                                                                            \
    HWY_DYNAMIC_DISPATCH(Normalize##name)(across, n, x, mean, scale, shift, y);                             \
  }                                                                                                         \
  template <>                                                                                               \
  void normalize_grad_stretch(bool across, int64_t n, const T* g, const T* x, const T* mean, const T* a,    \
                              const T* b, const T* c, T* dx) {                                              \
    HWY_DYNAMIC_DISPATCH(NormalizeGrad##name)(across, n, g, x, mean, a, b, c, dx);                          \
  }
LUNAGRAD_TYPES(LUNAGRAD_FUNCTIONS)
#undef LUNAGRAD_FUNCTIONS

}  // namespace lunagrad
#endif  // HWY_ONCE
