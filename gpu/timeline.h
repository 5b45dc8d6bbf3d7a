#pragma once
// A timeline semaphore that counts the submissions of one line of work, and how far the device is with them.
// Guarded by the device's lock. All functions throw Error when Vulkan fails, unless they are noexcept; `lost`
// becomes true when the device was lost or has given no sign for long.
#include <cstdint>
#include <span>

#include "gpu/context.h"

namespace lunagrad::gpu {

class Timeline {
 public:
  Timeline(VulkanContext&, bool& lost);
  ~Timeline();
  Timeline(const Timeline&) = delete;

  struct Point {
    VkSemaphore semaphore;
    uint64_t value;
  };
  Point at(uint64_t value) const { return {semaphore_, value}; }
  uint64_t submitted() const { return submitted_; }  // the value of the last submission
  uint64_t reached() const { return reached_; }      // when it was last asked for

  // Hands commands over to the queue, behind at most two points that were submitted.
  void submit(VkQueue, VkCommandBuffer, std::span<const Point> behind);
  uint64_t ask();  // how far the work is
  void wait_for(uint64_t value);
  // Waits for all. False: the device does not answer, or cannot be waited for.
  bool come_to_rest() noexcept;

 private:
  // VK_TIMEOUT: the device has given no sign for long.
  VkResult await(uint64_t value) noexcept;
  void check_alive(VkResult, const char* doing);

  VulkanContext& context_;
  bool& lost_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  uint64_t submitted_ = 0, reached_ = 0;
};

}  // namespace lunagrad::gpu
