#include <atomic>
#include <cstdlib>
#include <exception>
#include <vector>

#include "gpu/device/device.h"
#include "gpu/gpu.h"
#include "runtime/core/error.h"
#include "runtime/core/tensor.h"

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

VulkanDevice& shared_device(Device& device) {
  auto* const found = dynamic_cast<VulkanDevice*>(&device);
  if (!found || !found->is_shared())
    fail_as(ErrorKind::device, device.name(), " is no device that the program shares");
  return *found;
}

}  // namespace

Device& open_host_device(const HostDevice& host) {
  const std::shared_ptr<Instance> instance = Instance::adopt(static_cast<VkInstance>(host.instance));
  std::string reason;
  std::optional<PhysicalDevice> physical =
      instance->examine(static_cast<VkPhysicalDevice>(host.physical), reason, host.queue_family);
  if (!physical) throw Error(reason.substr(0, reason.find('\n')), ErrorKind::device);
  physical->host = {static_cast<VkDevice>(host.device), static_cast<VkQueue>(host.queue), host.lock,
                    host.unlock, host.user};
  physical->upload_queue.reset();
  physical->float64 &= host.float64;
  if (!host.matrix_units) physical->matrix_units = {};
  // Extensions that the program may not have enabled.
  physical->calibrated = physical->budget = false;
  static std::atomic<int> count{0};
  const int number = count++;
  auto made = std::make_unique<VulkanDevice>(number == 0 ? "vulkan:host" : text("vulkan:host", number),
                                             instance, *physical);
  return add_device(std::move(made));
}

void close_host_device(Device& device) { shared_device(device).close(); }

DeviceBuffer device_buffer(const Tensor& x) {
  VulkanDevice& device = shared_device(x.device());
  if (x.numel() == 0) fail_as(ErrorKind::value, "a tensor without elements has no buffer");
  return device.buffer_of(x.storage().data(), size_t(x.offset()) * item_size(x.dtype()));
}

void wait_for_host(Device& device, uint64_t semaphore, uint64_t value) {
  shared_device(device).wait_for_host(semaphore, value);
}

void close() {
  for (VulkanDevice* device : open_devices()) device->close();
}

int validation_messages() { return count_validation_messages(); }

void install() { register_device_source(find_devices); }

}  // namespace lunagrad::gpu
