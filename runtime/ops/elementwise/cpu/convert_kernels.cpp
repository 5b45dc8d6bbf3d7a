#include "runtime/ops/elementwise/cpu/convert_kernels.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/elementwise/cpu/convert_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Without an instruction for f16 (SSE4), Highway emulates the conversion but flushes subnormals: these
// targets use convert() instead.
#if HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON
constexpr bool kConvertsHalves = true;
#else
constexpr bool kConvertsHalves = false;
#endif

constexpr int64_t kThroughF32 = 256;  // elements of the f32 buffer

// convert() of dtype.h without branches, so that the compiler vectorises the loop around it.
template <class To, class From>
HWY_INLINE To convert_plainly(From value) {
  if constexpr (std::is_same_v<To, BFloat16> && std::is_same_v<From, float>) {
    uint32_t raw;
    std::memcpy(&raw, &value, 4);
    const uint32_t rounded = (raw + 0x7fff + (raw >> 16 & 1)) >> 16, nan = raw >> 16 | 0x40;
    BFloat16 result;
    result.bits = uint16_t((raw & 0x7fffffff) > 0x7f800000 ? nan : rounded);
    return result;
  } else if constexpr (std::is_same_v<To, int32_t> && std::is_same_v<From, float>) {
    constexpr float kPastLast = 2147483648.0f, kLast = 2147483520.0f;  // 2^31, and the largest float below it
    float inside = value > -kPastLast ? value : -kPastLast;
    inside = inside < kLast ? inside : kLast;
    int32_t result = static_cast<int32_t>(inside);
    result = value >= kPastLast ? 2147483647 : result;
    return value == value ? result : 0;
  } else if constexpr (std::is_same_v<To, uint8_t> && std::is_same_v<From, float>) {
    float inside = value > 0 ? value : 0;  // NaN becomes 0
    inside = inside < 255 ? inside : 255;
    return static_cast<uint8_t>(static_cast<int32_t>(inside));
  } else {
    return convert<To>(value);
  }
}

template <class To, class From>
void convert_elements(const void* source, void* target, int64_t count) {
  const From* HWY_RESTRICT from = static_cast<const From*>(source);
  To* HWY_RESTRICT to = static_cast<To*>(target);
  if constexpr (std::is_same_v<To, From>) {
    std::memcpy(to, from, size_t(count) * sizeof(To));
    return;
  }
  int64_t i = 0;
  if constexpr (kConvertsHalves && (std::is_same_v<To, Half> || std::is_same_v<From, Half>)) {
    const hn::ScalableTag<float> d;
    const hn::Rebind<hwy::float16_t, decltype(d)> dh;
    const int64_t lanes = int64_t(hn::Lanes(d));
    if constexpr (std::is_same_v<To, float>)
      for (; i + lanes <= count; i += lanes)
        hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, reinterpret_cast<const hwy::float16_t*>(from + i))), d,
                   to + i);
    if constexpr (std::is_same_v<From, float>)
      for (; i + lanes <= count; i += lanes)
        hn::StoreU(hn::DemoteTo(dh, hn::LoadU(d, from + i)), dh, reinterpret_cast<hwy::float16_t*>(to + i));
  }
  constexpr bool kToHalf = std::is_same_v<To, Half> && !std::is_same_v<From, float>;
  constexpr bool kFromHalf = std::is_same_v<From, Half> && !std::is_same_v<To, float>;
  if constexpr (kConvertsHalves && (kToHalf || kFromHalf)) {  // through f32, like convert()
    float between[kThroughF32];
    for (; i < count; i += kThroughF32) {
      const int64_t n = count - i < kThroughF32 ? count - i : kThroughF32;
      convert_elements<float, From>(from + i, between, n);
      convert_elements<To, float>(between, to + i, n);
    }
    return;
  }
  for (; i < count; ++i) to[i] = convert_plainly<To>(from[i]);
}

// In the order of DType, without complex types. A bool is read as a byte, 0 or 1, because compilers do not
// vectorise loops over bool.
template <class To>
constexpr ConvertRow kFrom[size_t(DType::f64) + 1] = {
    convert_elements<To, std::conditional_t<std::is_same_v<To, bool>, bool, uint8_t>>,
    convert_elements<To, uint8_t>,
    convert_elements<To, int32_t>,
    convert_elements<To, int64_t>,
    convert_elements<To, Half>,
    convert_elements<To, BFloat16>,
    convert_elements<To, float>,
    convert_elements<To, double>};

ConvertRow choose(DType to, DType from) {
  return visit_dtype(to, [&]<class To>() { return kFrom<To>[size_t(from)]; });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(choose);

namespace {

// Complex elements: plain loops, which the compiler vectorises.
template <class To, class From>
void convert_complex(const void* source, void* target, int64_t count) {
  const From* const from = static_cast<const From*>(source);
  To* const to = static_cast<To*>(target);
  if constexpr (std::is_same_v<To, From>)
    std::memcpy(target, source, size_t(count) * sizeof(To));
  else
    for (int64_t i = 0; i < count; ++i) to[i] = convert<To>(from[i]);
}

}  // namespace

ConvertRow convert_row(DType to, DType from) {
  if (!is_complex(to) && !is_complex(from)) return HWY_DYNAMIC_DISPATCH(choose)(to, from);
  return visit_any_dtype(to, [&]<class To>() -> ConvertRow {
    return visit_any_dtype(from, [&]<class From>() -> ConvertRow {
      if constexpr (is_complex_v<To> || is_complex_v<From>)
        return convert_complex<To, From>;
      else
        return nullptr;
    });
  });
}

}  // namespace lunagrad
#endif
