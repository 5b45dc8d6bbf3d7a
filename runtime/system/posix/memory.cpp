#include "runtime/system/memory.h"

#include <sys/mman.h>
#include <unistd.h>

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

size_t machine_memory() {
  static const size_t bytes = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  return bytes;
}

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

size_t resident_memory() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * size_t(sysconf(_SC_PAGESIZE));
}

char* map_memory(size_t size, size_t alignment) {
  void* raw = mmap(nullptr, size + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const uintptr_t start = reinterpret_cast<uintptr_t>(raw);
  const uintptr_t aligned = (start + alignment - 1) & ~(alignment - 1);
  if (aligned != start) munmap(raw, aligned - start);
  if (const size_t tail = start + alignment - aligned) munmap(reinterpret_cast<void*>(aligned + size), tail);
  return reinterpret_cast<char*>(aligned);
}

void unmap_memory(void* mapping, size_t size) { munmap(mapping, size); }

void use_huge_pages(void* mapping, size_t size) { madvise(mapping, size, MADV_HUGEPAGE); }

}  // namespace lunagrad
