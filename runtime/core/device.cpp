#include "runtime/core/device.h"

#include <mutex>

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

// Never destroyed: tensors in static variables may outlive all other statics.
struct Registry {
  Registry() {
    devices.reserve(kMostDevices);  // they stay where they are while other threads read the list
    devices.push_back(make_cpu_device());
  }

  void add(std::unique_ptr<Device> device) {
    if (devices.size() == kMostDevices)
      fail_as(ErrorKind::device, "there are ", kMostDevices, " devices already");
    devices.push_back(std::move(device));
  }
  std::span<const std::unique_ptr<Device>> list() {
    const std::lock_guard lock(mutex);
    return devices;
  }
  Device* find(std::string_view name) {
    for (const auto& device : list())
      if (device->name() == name) return device.get();
    return nullptr;
  }

  // Calls the device sources that were not called yet.
  void look() {
    const std::lock_guard lock(mutex);
    for (; asked < sources.size(); ++asked) {
      std::string reason;
      for (auto& device : sources[asked](reason)) add(std::move(device));
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
  return registry().list();
}

Device& add_device(std::unique_ptr<Device> device) {
  const std::lock_guard lock(registry().mutex);
  registry().add(std::move(device));
  return *registry().devices.back();
}

std::string missing_devices() {
  registry().look();
  return registry().missing;
}

Device* find_device(std::string_view name) {
  if (name == "cpu") return &cpu_device();
  if (Device* const present = registry().find(name)) return present;
  registry().look();
  return registry().find(name);
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
