#pragma once
// Mapped buffers for copies to the host that other work goes on beside. Used ones are kept for the next copy
// of about the same size, since the driver takes long to make one. The device's lock guards them.
#include <memory>
#include <vector>

#include "gpu/memory.h"

namespace lunagrad::gpu {

class HostBuffers {
 public:
  struct Entry {
    std::unique_ptr<HostBuffer> buffer;
    uint64_t busy_until =
        0;  // the device reads or writes it before the timeline of the stream reaches this value
    bool taken = false;
  };

  explicit HostBuffers(VulkanContext& context) : context_(context) {}
  // A buffer of at least that size that nobody uses, where the timeline has reached a value.
  Entry& take(VkDeviceSize bytes, uint64_t reached);
  void give_back(Entry& entry) { entry.taken = false; }

 private:
  static constexpr VkDeviceSize kKept = 256 << 20;  // bytes of buffers that are not in use

  VulkanContext& context_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace lunagrad::gpu
