#include "ui/base/device_list.h"

#include <chrono>

#include "runtime/core/device.h"

namespace lunagrad {

void DeviceList::look(std::function<void()> wake) {
  if (ready_ || looking_.valid()) return;
  looking_ = std::async(std::launch::async, [this, wake = std::move(wake)] {
    for (const auto& device : devices())
      found_.push_back({std::string(device->name()), device->description()});
    missing_ = missing_devices();
    if (wake) wake();
  });
}

bool DeviceList::ready() {
  if (ready_ || !looking_.valid()) return ready_;
  if (looking_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    looking_.get();
    ready_ = true;
  }
  return ready_;
}

}  // namespace lunagrad
