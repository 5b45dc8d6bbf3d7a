#include <cstdlib>
#include <exception>
#include <vector>

#include "gpu/device/device.h"
#include "gpu/gpu.h"

namespace lunagrad::gpu {
namespace {

// All devices, so that they can be closed while the Vulkan layers still exist. This is for programs that end
// without close(): atexit() functions that are registered after the instance was created run before the
// destructors of the layers.
std::vector<VulkanDevice*>& open_devices() {
  static auto* devices = new std::vector<VulkanDevice*>;
  return *devices;
}
std::vector<std::unique_ptr<Device>> find_devices(std::string& reason) {
  std::vector<std::unique_ptr<Device>> devices;
  try {
    const std::shared_ptr<Instance> instance = Instance::open(reason);
    if (!instance) return devices;
    std::string rejected;
    for (const PhysicalDevice& physical : instance->physical_devices(rejected)) {
      const std::string name = devices.empty() ? "vulkan" : "vulkan:" + std::to_string(devices.size());
      auto device = std::make_unique<VulkanDevice>(name, instance, physical);
      open_devices().push_back(device.get());
      devices.push_back(std::move(device));
    }
    if (devices.empty())
      reason = rejected.empty() ? "vulkan: there is a loader, but no driver offers a device" : rejected;
    else
      std::atexit(close);
  } catch (const std::exception& error) {
    reason = error.what();
  }
  return devices;
}

}  // namespace

void close() {
  for (VulkanDevice* device : open_devices()) device->close();
}

int validation_messages() { return count_validation_messages(); }

void install() { register_device_source(find_devices); }

}  // namespace lunagrad::gpu
