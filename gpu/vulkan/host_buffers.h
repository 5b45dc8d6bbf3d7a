#pragma once
// Mapped buffers for copies to the host that run while other work continues. A used buffer is kept for the
// next copy of about the same size, since the driver takes long to create one. The device's lock guards them.
#include <memory>
#include <vector>

#include "gpu/vulkan/memory.h"

namespace lunagrad::gpu {

class HostBuffers {
 public:
  struct Entry {
    std::unique_ptr<HostBuffer> buffer;
    uint64_t busy_until = 0;  // the device uses the buffer until the stream's timeline reaches this value
    bool taken = false;
  };

  explicit HostBuffers(VulkanContext& context) : context_(context) {}
  // Returns a buffer of at least `bytes` that is neither taken nor in use by the device. `reached`: the
  // timeline's value now.
  Entry& take(VkDeviceSize bytes, uint64_t reached);
  void give_back(Entry& entry) { entry.taken = false; }

 private:
  static constexpr VkDeviceSize kKept = 256 << 20;  // most bytes of idle buffers

  VulkanContext& context_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace lunagrad::gpu
