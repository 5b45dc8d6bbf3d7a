#pragma once
// Files that are kept for a device and its driver: the pipeline cache, the list of used pipelines, plans of
// products, rates. One file of each kind in $XDG_CACHE_HOME/lunagrad, else ~/.cache/lunagrad. They only save
// time: a damaged or foreign file is treated as missing, and a failure to write is not an error. Any thread.
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
  std::vector<std::byte> load() const;                        // empty: no usable file
  bool save(std::span<const std::byte> data) const noexcept;  // replaces the file; false: not written
  const std::string& path() const { return path_; }           // empty: neither variable names a folder

 private:
  std::string path_;
};

// FNV-1a with 64 bits. To compute it in pieces, pass the checksum of the previous data as `hash`.
uint64_t checksum(std::span<const std::byte> data, uint64_t hash = 0xcbf29ce484222325u);

}  // namespace lunagrad::gpu
