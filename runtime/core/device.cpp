#include "runtime/core/device.h"

#include <mutex>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

// Never destroyed: tensors in static variables may outlive all other statics.
struct Registry {
  Registry() { devices.push_back(make_cpu_device()); }

  // Calls the device sources that were not called yet.
  void look() {
    const std::lock_guard lock(mutex);
    for (; asked < sources.size(); ++asked) {
      std::string reason;
      for (auto& device : sources[asked](reason)) devices.push_back(std::move(device));
      if (!reason.empty()) missing += reason + "\n";
    }
  }

  std::mutex mutex;
  std::vector<DeviceSource> sources;
  size_t asked = 0;
  std::vector<std::unique_ptr<Device>> devices;
  std::string missing;
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

}  // namespace

Device& cpu_device() {
  static Device& device = *registry().devices.front();
  return device;
}

void register_device_source(DeviceSource source) {
  const std::lock_guard lock(registry().mutex);
  registry().sources.push_back(source);
}

std::span<const std::unique_ptr<Device>> devices() {
  registry().look();
  return registry().devices;
}

std::string missing_devices() {
  registry().look();
  return registry().missing;
}

Device* find_device(std::string_view name) {
  if (name == "cpu") return &cpu_device();
  for (const auto& device : devices())
    if (device->name() == name) return device.get();
  return nullptr;
}

Device& require_device(std::string_view name) {
  if (Device* device = find_device(name)) return *device;
  std::string message = text("there is no device \"", name, "\" (there are: ");
  for (const auto& device : devices())
    message += text(device->is_cpu() ? "" : ", ", '"', device->name(), '"');
  message += ")";
  if (name.starts_with("cuda")) message += "; a GPU is \"vulkan\"";
  if (const std::string missing = missing_devices(); !missing.empty())
    message += "\n" + missing.substr(0, missing.size() - 1);
  throw Error(message, ErrorKind::device);
}

}  // namespace lunagrad
