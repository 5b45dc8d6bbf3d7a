#pragma once
// What a device that cannot run a call says about it. Only a call that falls back to the CPU asks, so the
// interface is separate from Device.
#include <string>

namespace lunagrad {

struct Call;

class DeviceLimits {
 public:
  // Why the device does not support the call, as a sentence without a period. Empty: it has no kernel for the
  // call's types.
  virtual std::string why_not(const Call&) const = 0;

 protected:
  ~DeviceLimits() = default;
};

}  // namespace lunagrad
