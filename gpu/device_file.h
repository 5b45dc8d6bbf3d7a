#pragma once
// What is kept on disk of a device and its driver (what that made of pipelines, which were used, plans of
// products): a file of each kind in $XDG_CACHE_HOME/lunagrad, else ~/.cache/lunagrad. It only saves time: a
// file that is torn, foreign or cannot be written is none. Any thread.
#include <volk.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad::gpu {

class DeviceFile {
 public:
  DeviceFile(std::string_view kind, const VkPhysicalDeviceProperties&);
  std::vector<std::byte> load() const;  // empty: there is nothing to be used
  bool save(std::span<const std::byte> data) const noexcept;
  const std::string& path() const { return path_; }  // empty: there is no folder to keep it in

 private:
  std::string path_;
};

// FNV-1a, 64 bits, of what follows what `hash` is of.
uint64_t checksum(std::span<const std::byte> data, uint64_t hash = 0xcbf29ce484222325u);

}  // namespace lunagrad::gpu
