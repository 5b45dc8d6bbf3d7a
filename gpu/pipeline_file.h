#pragma once
// What is kept of pipelines from start to start, on disk: what the driver made of them, and which were used, in two
// files for each device and driver in $XDG_CACHE_HOME/lunagrad, else ~/.cache/lunagrad. They only save time: a file that
// is torn, foreign or cannot be written is none. Any thread.
#include <volk.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lunagrad::gpu {

class PipelineFile {
 public:
  enum class Kind { made, used };
  PipelineFile(const VkPhysicalDeviceProperties&, Kind);
  std::vector<std::byte> load() const;  // empty: there is nothing to be used
  void save(std::span<const std::byte> data) const noexcept;
  const std::string& path() const { return path_; }  // empty: there is no folder to keep it in

 private:
  std::string path_;
};

}  // namespace lunagrad::gpu
