#include "runtime/cpu/half_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/half_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Highway emulates the conversion where there is no instruction (SSE4), without denormals; there ours is
// used.
#if HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON
constexpr bool kNative = true;
#else
constexpr bool kNative = false;
#endif

void widen(const Half* in, float* out, int64_t count) {
  int64_t i = 0;
  if constexpr (kNative) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<hwy::float16_t, decltype(d)> dh;
    const int64_t lanes = int64_t(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(in + i))), d,
                 out + i);
  }
  for (; i < count; ++i) out[i] = float(in[i]);
}

void narrow(const float* in, Half* out, int64_t count) {
  int64_t i = 0;
  if constexpr (kNative) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<hwy::float16_t, decltype(d)> dh;
    const int64_t lanes = int64_t(hn::Lanes(d));
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(hn::DemoteTo(dh, hn::LoadU(d, in + i)), dh, reinterpret_cast<hwy::float16_t*>(out + i));
  }
  for (; i < count; ++i) out[i] = Half(in[i]);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(widen);
HWY_EXPORT(narrow);

void widen_halves(const Half* in, float* out, int64_t count) { HWY_DYNAMIC_DISPATCH(widen)(in, out, count); }
void narrow_to_halves(const float* in, Half* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(narrow)(in, out, count);
}

}  // namespace lunagrad
#endif
