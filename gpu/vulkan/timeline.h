#pragma once
// A timeline semaphore that counts the submissions to one queue and shows how many of them are finished.
// Guarded by the device's lock. Functions throw Error when Vulkan fails, unless they are noexcept. They set
// `lost` if the device is lost, or if no submission finishes for long (20 s, on CPU devices 10 minutes).
#include <cstdint>
#include <span>

#include "gpu/vulkan/context.h"

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
  // Waits for a point and sets `reached` to the semaphore's value. Needs no lock. VK_TIMEOUT: no submission
  // finished for long.
  static VkResult await(VulkanContext&, Point, uint64_t& reached) noexcept;
  Point at(uint64_t value) const { return {semaphore_, value}; }
  uint64_t submitted() const { return submitted_; }  // the value of the last submission
  uint64_t reached() const { return reached_; }      // as of the last ask() or wait_for()

  // Submits commands that wait for `waits`, which are already submitted.
  void submit(VkQueue, VkCommandBuffer, std::span<const Point> waits);
  uint64_t ask();  // reads the semaphore
  void wait_for(uint64_t value);
  // Waits for all submissions. False: the device does not answer.
  bool come_to_rest() noexcept;

 private:
  void check_alive(VkResult, const char* doing);

  VulkanContext& context_;
  bool& lost_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  uint64_t submitted_ = 0, reached_ = 0;
};

}  // namespace lunagrad::gpu
