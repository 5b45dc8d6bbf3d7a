#include "runtime/cpu/checksum_kernels.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/checksum_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

// The compiler vectorises the inner loop. A product moves a changed bit up, the shift moves it down.
void MixBlocks(uint32_t* HWY_RESTRICT state, const char* HWY_RESTRICT bytes, size_t blocks) {
  constexpr uint32_t kOdd = 0x9e3779b1;
  for (; blocks > 0; --blocks, bytes += kSumBytes) {
    for (size_t i = 0; i < kSumLanes; ++i) {
      uint32_t word;
      std::memcpy(&word, bytes + i * sizeof word, sizeof word);
      const uint32_t product = (state[i] ^ word) * kOdd;
      state[i] = product ^ (product >> 15);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(MixBlocks);

void mix_blocks(uint32_t* state, const char* bytes, size_t blocks) {
  HWY_DYNAMIC_DISPATCH(MixBlocks)(state, bytes, blocks);
}

}  // namespace lunagrad
#endif
