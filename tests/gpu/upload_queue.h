#pragma once
#include "gpu/context.h"

namespace lunagrad::tests {

// The device with a queue for uploads: where it has none, the one that it computes on, so that their path
// runs everywhere.
inline gpu::PhysicalDevice with_upload_queue(gpu::PhysicalDevice device) {
  if (!device.upload_queue) device.upload_queue = {device.queue_family, 0};
  return device;
}

}  // namespace lunagrad::tests
