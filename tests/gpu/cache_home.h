#pragma once
// A cache folder for one test, and the properties of a device that has files there.
#include <stdlib.h>
#include <volk.h>

#include <cstdlib>
#include <string>

namespace lunagrad::tests {

// Sets $XDG_CACHE_HOME while the object lives.
class CacheHome {
 public:
  explicit CacheHome(const std::string& path) {
    if (const char* before = std::getenv(kName)) before_ = before;
    ::setenv(kName, path.c_str(), 1);
  }
  ~CacheHome() {
    if (before_.empty())
      ::unsetenv(kName);
    else
      ::setenv(kName, before_.c_str(), 1);
  }
  CacheHome(const CacheHome&) = delete;

 private:
  static constexpr const char* kName = "XDG_CACHE_HOME";
  std::string before_;
};

inline VkPhysicalDeviceProperties some_device(uint8_t driver) {
  VkPhysicalDeviceProperties device{};
  device.vendorID = 0x10de;
  device.pipelineCacheUUID[3] = driver;
  return device;
}

}  // namespace lunagrad::tests
