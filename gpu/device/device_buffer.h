#pragma once
// The memory of a tensor, for a program that shares its device with the engine. Handles of Vulkan are
// numbers.
#include <cstdint>

namespace lunagrad::gpu {

// Where the elements of a tensor on a host's device are.
struct DeviceBuffer {
  uint64_t buffer = 0;     // VkBuffer, which begins before the tensor and ends behind it
  uint64_t offset = 0;     // bytes
  uint64_t semaphore = 0;  // a timeline VkSemaphore: the values are there when it has reached `value`
  uint64_t value = 0;
};

}  // namespace lunagrad::gpu
