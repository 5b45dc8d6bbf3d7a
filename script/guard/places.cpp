#include "script/guard/places.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "runtime/system/libraries.h"
#include "script/guard/sanitizers.h"
#include "script/meta/library.h"

namespace lunagrad {
namespace {

namespace fs = std::filesystem;

// Without /proc/self, whose environment may hold keys and passwords.
constexpr const char* kSystemPlaces[] = {
    // Libraries and data of packages; the program loader; Vulkan's loader and drivers.
    "/usr", "/lib", "/lib64", "/opt/amdgpu", "/opt/amdgpu-pro", "/etc/ld.so.cache", "/etc/vulkan",
    "/etc/glvnd", "/etc/drirc", "/etc/nvidia", "/etc/localtime",
    // The processor, memory, control group limits, and what drivers ask about GPUs.
    "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/devices", "/proc/modules",
    "/proc/filesystems", "/proc/driver", "/proc/sys/vm", "/proc/sys/kernel/random/boot_id",
    "/proc/sys/kernel/osrelease", "/proc/self/cgroup", "/proc/self/comm", "/proc/self/stat",
    "/proc/self/statm", "/proc/self/status", "/sys/bus", "/sys/class", "/sys/dev", "/sys/devices",
    "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage", "/sys/module",
    // Devices that hold no data.
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};

// GPU devices: Mesa's render nodes and the devices of NVIDIA, AMD (for computing), WSL and Arm.
constexpr const char* kDevices = "/dev";
constexpr std::string_view kGpuNames[] = {"nvidia", "kfd", "dxg", "mali", "udmabuf"};
constexpr const char* kDri = "/dev/dri";

// Environment variables with lists of files and folders, separated by colons.
constexpr const char* kLists[] = {"LD_LIBRARY_PATH",       "VK_DRIVER_FILES", "VK_ICD_FILENAMES",
                                  "VK_ADD_DRIVER_FILES",   "VK_LAYER_PATH",   "VK_ADD_LAYER_PATH",
                                  "VK_IMPLICIT_LAYER_PATH"};

void add_list(std::vector<std::string>& places, const char* variable) {
  const char* const set = std::getenv(variable);
  for (std::string_view rest = set ? set : ""; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (rest.starts_with('/')) places.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// The user's files for `program`: in $variable, or in ~/fallback.
void add_of_user(std::vector<std::string>& places, const char* variable, const char* fallback,
                 const char* program) {
  const char* const set = std::getenv(variable);
  const char* const home = std::getenv("HOME");
  if (set && *set == '/')
    places.push_back(std::string(set) + program);
  else if (home && *home == '/')
    places.push_back(std::string(home) + fallback + program);
}

template <class Wanted>
void add_from(std::vector<std::string>& places, const char* folder, const Wanted& wanted) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (wanted(entry.path().filename().string())) places.push_back(entry.path().string());
}

}  // namespace

std::vector<std::string> places_of_every_run() {
  std::vector<std::string> places(std::begin(kSystemPlaces), std::end(kSystemPlaces));
  add_from(places, kDevices, [](const std::string& name) {
    for (const std::string_view gpu : kGpuNames)
      if (name.starts_with(gpu)) return true;
    return false;
  });
  add_from(places, kDri, [](const std::string& name) { return name.starts_with("renderD"); });
  for (const char* const list : kLists) add_list(places, list);
  add_of_user(places, "XDG_DATA_HOME", "/.local/share", "/vulkan");
  add_of_user(places, "XDG_CONFIG_HOME", "/.config", "/vulkan");
  // Pipelines and measured rates that earlier runs saved. A sandboxed run adds none, since drivers trust
  // them.
  add_of_user(places, "XDG_CACHE_HOME", "/.cache", "/lunagrad");
  if (kLooksForLeaks) places.push_back("/proc/self");
  places.push_back(library_directory());
  places.push_back(library_directory() + "/../docs");
  places.push_back(own_program());
  places.push_back(own_library_file());
  return places;
}

}  // namespace lunagrad
