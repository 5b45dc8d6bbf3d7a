#pragma once
// Copies to the device on a queue of their own, concurrent with the compute work. Staging memory has several
// parts, so that the host fills one while the device reads another. Semaphores order uploads and batches in
// both directions. An upload waits for the batches that the stream knew to be done. It stores its own value
// in the range, and the next batch that uses the range waits for that value. Guarded by the device's lock.
// Functions throw Error when Vulkan fails.
#include <array>

#include "gpu/vulkan/memory.h"
#include "gpu/vulkan/stream_listener.h"
#include "gpu/vulkan/timeline.h"

namespace lunagrad::gpu {

class Uploads {
 public:
  Uploads(VulkanContext&, bool& lost);
  ~Uploads();
  Uploads(const Uploads&) = delete;

  // `done` is the last batch that the stream knows to be done; no later batch may use the range.
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
  std::array<uint64_t, kParts> values_{};  // timeline values at which the parts are free
  size_t next_ = 0;
};

}  // namespace lunagrad::gpu
