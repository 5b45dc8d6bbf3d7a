#include "runtime/core/available_memory.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace lunagrad {
namespace {

size_t number_in(const std::string& file) {
  std::ifstream in(file);
  size_t value = 0;
  return in >> value ? value : SIZE_MAX;
}

}  // namespace

size_t available_memory() {
  size_t available = SIZE_MAX;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key, unit; meminfo >> key;) {
    size_t kib = 0;
    meminfo >> kib;
    std::getline(meminfo, unit);
    if (key == "MemAvailable:") {
      available = kib << 10;
      break;
    }
  }
  std::string group;
  std::ifstream own("/proc/self/cgroup");
  for (std::string line; std::getline(own, line);)
    if (line.starts_with("0::/")) group = line.substr(3);
  for (const std::string& folder : {std::string("/sys/fs/cgroup"), "/sys/fs/cgroup" + group}) {
    const size_t limit = number_in(folder + "/memory.max"), used = number_in(folder + "/memory.current");
    if (limit != SIZE_MAX && used != SIZE_MAX)
      available = std::min(available, limit > used ? limit - used : 0);
  }
  return available;
}

}  // namespace lunagrad
