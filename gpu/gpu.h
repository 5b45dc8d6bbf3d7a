#pragma once
// Vulkan devices for the engine: functions for a program's main(), and for a program that shares its own
// Vulkan device. No Vulkan type appears here: handles are pointers or numbers.
#include <cstdint>

#include "gpu/device/device_buffer.h"

namespace lunagrad {

class Device;
class Tensor;

}  // namespace lunagrad

namespace lunagrad::gpu {

// Registers the Vulkan devices as a device source (runtime/core/device.h): "vulkan", "vulkan:1", …, discrete
// GPUs first, CPU devices last. Opens neither the loader nor a driver: that happens when a device is first
// requested. If there is no device, the engine reports the reason in a sentence. To be called once, by one
// thread. Never throws.
[[gnu::visibility("default")]] void install();

// Waits for the work of all devices and destroys them, permanently. To be called before main() returns: a
// driver that still works while statics are destroyed may crash. No other thread may use a device then.
[[gnu::visibility("default")]] void close();

// The number of messages of the validation layer so far. Always 0 unless the environment variable
// LUNAGRAD_VALIDATION is 1 when the first device is requested. Any thread.
[[gnu::visibility("default")]] int validation_messages();

// A logical device of the program, made with the features that docs/embedding.md lists.
struct HostDevice {
  void* instance = nullptr;  // VkInstance, VkPhysicalDevice, VkDevice, VkQueue
  void* physical = nullptr;
  void* device = nullptr;
  void* queue = nullptr;
  uint32_t queue_family = 0;
  bool float64 = false;  // shaderFloat64 is enabled
  bool matrix_units =
      false;  // so are the extensions of cooperative matrices that the device has, and shaderFloat16
  // Called around each submission to the queue, on any thread; null: nobody else uses the queue.
  void (*lock)(void* user) = nullptr;
  void (*unlock)(void* user) = nullptr;
  void* user = nullptr;
};

// Makes a device "vulkan:host" ("vulkan:host1", …) of it, which lives as long as the process. The program
// keeps its device until close_host_device(). Any thread. Error of kind device, with the reason.
[[gnu::visibility("default")]] Device& open_host_device(const HostDevice&);
// Waits for the work and destroys what the engine made on the device. Its tensors are lost. Any thread.
[[gnu::visibility("default")]] void close_host_device(Device&);

// Submits the work that the tensor's values need. The buffer is valid as long as the tensor. The tensor's
// thread. Error of kind device for a tensor elsewhere.
[[gnu::visibility("default")]] DeviceBuffer device_buffer(const Tensor&);
// Later work on the device waits until the program's timeline semaphore has reached `value`. The program has
// submitted the work that signals it. Any thread.
[[gnu::visibility("default")]] void wait_for_host(Device&, uint64_t semaphore, uint64_t value);

}  // namespace lunagrad::gpu
