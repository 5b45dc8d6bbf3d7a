#pragma once
// Copies to the device beside its computing: on a queue of their own, through staging memory in parts, so
// that the host fills one while the device reads another. Two things order them with the stream, both
// semaphores that one side's submission waits for: an upload begins behind the batches that the stream knew
// to be done, and notes its own value in the range, for whoever uses that next. Guarded by the device's lock.
// All functions throw Error when Vulkan fails.
#include <array>

#include "gpu/memory.h"
#include "gpu/stream_listener.h"
#include "gpu/timeline.h"

namespace lunagrad::gpu {

class Uploads {
 public:
  Uploads(VulkanContext&, bool& lost);
  ~Uploads();
  Uploads(const Uploads&) = delete;

  // The stream is known to have come to `done`, and no work behind that may use the range.
  void copy(Range&, VkDeviceSize offset, const void* from, VkDeviceSize bytes, Timeline::Point done,
            StreamListener*);
  Timeline& timeline() { return timeline_; }

 private:
  static constexpr size_t kParts = 4;
  static constexpr VkDeviceSize kPartBytes = 8 << 20;

  VulkanContext& context_;
  Timeline timeline_;
  HostBuffer staging_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::array<VkCommandBuffer, kParts> commands_{};
  std::array<uint64_t, kParts> values_{};  // of the timeline, when the part is free again
  size_t next_ = 0;
};

}  // namespace lunagrad::gpu
