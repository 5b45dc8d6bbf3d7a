#pragma once
// What the driver keeps of compiled pipelines, on disk: one file for each device and driver in $XDG_CACHE_HOME/lunagrad,
// else ~/.cache/lunagrad. It only saves time: a file that is torn, foreign or cannot be written is none. Any thread.
#include <volk.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lunagrad::gpu {

class PipelineFile {
 public:
  explicit PipelineFile(const VkPhysicalDeviceProperties&);
  std::vector<std::byte> load() const;  // empty: there is nothing to be used
  void save(std::span<const std::byte> data) const noexcept;
  const std::string& path() const { return path_; }  // empty: there is no folder to keep it in

 private:
  std::string path_;
};

}  // namespace lunagrad::gpu
