#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/rope_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/loops.h"
#include "runtime/ops/nn/cpu/rope.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// (a, b) -> (a cos - b sin, b cos + a sin)
template <class D, class T>
HWY_INLINE void turn(D d, const T* cos, const T* sin, hn::Vec<D>& a, hn::Vec<D>& b) {
  const auto c = hn::LoadU(d, cos), s = hn::LoadU(d, sin), first = a;
  a = hn::Sub(hn::Mul(first, c), hn::Mul(b, s));
  b = hn::Add(hn::Mul(b, c), hn::Mul(first, s));
}

template <class T>
void rope(bool interleaved, int64_t n, const T* x, const T* cos, const T* sin, T* out) {
  if (!interleaved) {
    for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
      auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + n + i);
      turn(d, cos + i, sin + i, a, b);
      hn::StoreU(a, d, out + i);
      hn::StoreU(b, d, out + n + i);
    });
    return;
  }
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d)> a, b;
    hn::LoadInterleaved2(d, x + 2 * i, a, b);
    turn(d, cos + i, sin + i, a, b);
    hn::StoreInterleaved2(a, b, d, out + 2 * i);
  }
  for (; i < n; ++i) {
    auto a = hn::Set(one, x[2 * i]), b = hn::Set(one, x[2 * i + 1]);
    turn(one, cos + i, sin + i, a, b);
    out[2 * i] = hn::GetLane(a);
    out[2 * i + 1] = hn::GetLane(b);
  }
}

void RopeF32(bool interleaved, int64_t n, const float* x, const float* cos, const float* sin, float* out) {
  rope(interleaved, n, x, cos, sin, out);
}
void RopeF64(bool interleaved, int64_t n, const double* x, const double* cos, const double* sin,
             double* out) {
  rope(interleaved, n, x, cos, sin, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {

HWY_EXPORT(RopeF32);
HWY_EXPORT(RopeF64);

}  // namespace

void rope_row(bool interleaved, int64_t n, const float* x, const float* cos, const float* sin, float* out) {
  HWY_DYNAMIC_DISPATCH(RopeF32)(interleaved, n, x, cos, sin, out);
}
void rope_row(bool interleaved, int64_t n, const double* x, const double* cos, const double* sin,
              double* out) {
  HWY_DYNAMIC_DISPATCH(RopeF64)(interleaved, n, x, cos, sin, out);
}

}  // namespace lunagrad
#endif  // HWY_ONCE
