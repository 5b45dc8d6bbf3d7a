#include "runtime/system/processor.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace lunagrad {
namespace {

// The CPU limit of a control group in whole cores, 0 without a limit. `max` has "quota period" (cgroup v2).
int quota_of(const std::string& folder) {
  if (std::ifstream max(folder + "/cpu.max"); max) {
    std::string quota;
    double period = 0;
    if (max >> quota >> period && quota != "max" && period > 0)
      return std::max(1, int(std::stod(quota) / period + 0.5));
    return 0;
  }
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0)
    return std::max(1, int(quota / period + 0.5));
  return 0;
}

}  // namespace

int machine_cores() { return int(sysconf(_SC_NPROCESSORS_ONLN)); }

int usable_cores() {
  int cores = int(std::max(1u, std::thread::hardware_concurrency()));
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = std::max(1, CPU_COUNT(&set));
  const auto limit = [&](const std::string& folder) {
    if (const int quota = quota_of(folder)) cores = std::min(cores, quota);
  };
  limit("/sys/fs/cgroup");
  limit("/sys/fs/cgroup/cpu");
  std::ifstream own("/proc/self/cgroup");
  for (std::string line; std::getline(own, line);)
    if (line.starts_with("0::/") && line.size() > 4) limit("/sys/fs/cgroup" + line.substr(3));
  return cores;
}

bool allow_tile_registers() {
#ifdef __x86_64__
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace lunagrad
