#pragma once
#include "gpu/vulkan/context.h"

namespace lunagrad::tests {

// The device with an upload queue. If it has none, the compute queue is used, so that uploads are tested on
// all devices.
inline gpu::PhysicalDevice with_upload_queue(gpu::PhysicalDevice device) {
  if (!device.upload_queue) device.upload_queue = {device.queue_family, 0};
  return device;
}

}  // namespace lunagrad::tests
