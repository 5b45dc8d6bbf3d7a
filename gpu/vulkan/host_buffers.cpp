#include "gpu/vulkan/host_buffers.h"

#include <bit>

namespace lunagrad::gpu {

HostBuffers::Entry& HostBuffers::take(VkDeviceSize bytes, uint64_t reached) {
  Entry* best = nullptr;
  VkDeviceSize idle = 0;
  for (const auto& entry : entries_) {
    if (entry->taken || entry->busy_until > reached) continue;
    const VkDeviceSize size = entry->buffer->size;
    idle += size;
    if (size >= bytes && size / 2 <= bytes && (!best || size < best->buffer->size)) best = entry.get();
  }
  if (!best) {
    if (idle > kKept)
      std::erase_if(entries_,
                    [&](const auto& entry) { return !entry->taken && entry->busy_until <= reached; });
    constexpr VkDeviceSize kSmallest = 1 << 16;
    auto made = std::make_unique<Entry>();
    made->buffer =
        std::make_unique<HostBuffer>(context_, std::max(kSmallest, std::bit_ceil(bytes)), HostUse::download);
    best = entries_.emplace_back(std::move(made)).get();
  }
  best->taken = true;
  return *best;
}

}  // namespace lunagrad::gpu
