#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/elementwise/cpu/elementwise_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void target_copy_past_caches(void* to, const void* from, int64_t bytes) {
  const hn::ScalableTag<uint8_t> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  uint8_t* out = static_cast<uint8_t*>(to);
  const uint8_t* in = static_cast<const uint8_t*>(from);
  const int64_t head = std::min<int64_t>(bytes, -int64_t(reinterpret_cast<uintptr_t>(out)) & (lanes - 1));
  std::memcpy(out, in, size_t(head));
  int64_t i = head;
  for (; i + lanes <= bytes; i += lanes) hn::Stream(hn::LoadU(d, in + i), d, out + i);
  std::memcpy(out + i, in + i, size_t(bytes - i));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(target_copy_past_caches);

const RowKernels& row_kernels(int row) {
  static const auto shards = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array{shard_kernels<I>()...};
  }
  (std::make_integer_sequence<int, kRowShards>());
  return shards[size_t(row % kRowShards)][row];
}

void copy_past_caches(void* out, const void* in, int64_t bytes) {
  HWY_DYNAMIC_DISPATCH(target_copy_past_caches)(out, in, bytes);
}

}  // namespace lunagrad
#endif
