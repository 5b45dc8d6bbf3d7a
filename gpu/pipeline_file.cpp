#include "gpu/pipeline_file.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include "runtime/io/atomic_file.h"

namespace lunagrad::gpu {
namespace {

namespace fs = std::filesystem;

// In front of the data: drivers trust theirs.
struct Header {
  char magic[8];
  uint64_t bytes;
  uint64_t checksum;
};
constexpr char kMagic[8] = {'l', 'g', 'p', 'i', 'p', 'e', '0', '1'};

// FNV-1a, 64 bits.
uint64_t checksum(std::span<const std::byte> data) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : data) hash = (hash ^ uint64_t(byte)) * 0x100000001b3u;
  return hash;
}

std::string cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/') return std::string(cache) + "/lunagrad";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/lunagrad";
  return {};
}

}  // namespace

PipelineFile::PipelineFile(const VkPhysicalDeviceProperties& device, Kind kind) {
  const std::string folder = cache_folder();
  if (folder.empty()) return;
  char name[24 + 2 * VK_UUID_SIZE + 8];
  int length = std::snprintf(name, sizeof name, "pipelines-%04x-%04x-", device.vendorID & 0xffff, device.deviceID & 0xffff);
  for (const uint8_t byte : device.pipelineCacheUUID)
    length += std::snprintf(name + length, sizeof name - size_t(length), "%02x", byte);
  path_ = folder + "/" + name + (kind == Kind::used ? ".used" : "");
}

std::vector<std::byte> PipelineFile::load() const {
  if (path_.empty()) return {};
  try {
    const std::string content = read_file(path_);
    Header header;
    if (content.size() < sizeof header) return {};
    std::memcpy(&header, content.data(), sizeof header);
    const auto data = std::as_bytes(std::span(content)).subspan(sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.bytes != data.size() ||
        header.checksum != checksum(data))
      return {};
    return {data.begin(), data.end()};
  } catch (const std::exception&) {
    return {};
  }
}

void PipelineFile::save(std::span<const std::byte> data) const noexcept {
  if (path_.empty()) return;
  try {
    Header header;
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.bytes = data.size();
    header.checksum = checksum(data);
    fs::create_directories(fs::path(path_).parent_path());
    AtomicFile file(path_);
    file.write(&header, sizeof header);
    file.write(data.data(), data.size());
    file.commit();
  } catch (const std::exception&) {
    // A disk that is full or read-only: the next start compiles once more.
  }
}

}  // namespace lunagrad::gpu
