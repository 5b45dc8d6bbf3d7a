#include "gpu/ops/nn/attention_tiles.h"

#include <algorithm>
#include <bit>

#include "runtime/core/error.h"

namespace lunagrad::gpu {

AttentionTiles attention_tiles(int64_t most_features, uint32_t own_tiles, const PhysicalDevice& physical) {
  constexpr uint32_t kThreads = shaders::Attention::kThreads;
  const uint32_t features = std::max(32u, std::bit_ceil(uint32_t(most_features)));
  const bool cpu = physical.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
  const uint32_t limit = physical.limits.maxComputeSharedMemorySize;
  for (const uint32_t own : {64u, 32u, 16u, 8u})
    for (const uint32_t passing : {32u, 16u, 8u, 4u}) {
      if (cpu && own * passing > 4 * kThreads) continue;
      const uint32_t row = features + 4, shares = own / 4 * passing < kThreads ? 4 * kThreads : 0,
                     bytes = (own_tiles * (own + passing) * row + passing * (own + 4) + 3 * own + shares) * 4;
      // An invocation holds the results of one to four groups of four rows. On CPU devices it holds one
      // group, since their drivers spill every value that lives across a barrier to memory.
      const uint32_t fours = own * features / 16 / kThreads, most = cpu ? 1 : 4 / own_tiles;
      if (bytes <= limit && fours >= 1 && fours <= most) return {features, own, passing};
    }
  fail_as(ErrorKind::device, "vulkan: ", physical.name, " has too little shared memory for attention");
}

}  // namespace lunagrad::gpu
