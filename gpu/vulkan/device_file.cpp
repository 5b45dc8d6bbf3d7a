#include "gpu/vulkan/device_file.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"

namespace lunagrad::gpu {
namespace {

namespace fs = std::filesystem;

// Stands before the data. Drivers trust a pipeline cache with their own header, so damage must be found here.
struct Header {
  char magic[8];
  uint64_t bytes;
  uint64_t checksum;
};
constexpr char kMagic[8] = {'l', 'g', 'k', 'e', 'p', 't', '0', '1'};

std::string cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::string(cache) + "/lunagrad";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/lunagrad";
  return {};
}

}  // namespace

uint64_t checksum(std::span<const std::byte> data, uint64_t hash) {
  for (const std::byte byte : data) hash = (hash ^ uint64_t(byte)) * 0x100000001b3u;
  return hash;
}

DeviceFile::DeviceFile(std::string_view kind, const VkPhysicalDeviceProperties& device) {
  const std::string folder = cache_folder();
  if (folder.empty()) return;
  char name[16 + 2 * VK_UUID_SIZE];
  int length =
      std::snprintf(name, sizeof name, "-%04x-%04x-", device.vendorID & 0xffff, device.deviceID & 0xffff);
  for (const uint8_t byte : device.pipelineCacheUUID)
    length += std::snprintf(name + length, sizeof name - size_t(length), "%02x", byte);
  path_ = text(folder, "/", kind, name);
}

std::vector<std::byte> DeviceFile::load() const {
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

bool DeviceFile::save(std::span<const std::byte> data) const noexcept {
  if (path_.empty()) return false;
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
    return true;
  } catch (const std::exception&) {
    return false;  // for example a full or read-only disk
  }
}

}  // namespace lunagrad::gpu
