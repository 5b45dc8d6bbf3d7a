#pragma once
// Device memory: ranges cut from a few large blocks, each one VkBuffer, and used again in stream order. A
// range remembers in which epoch of the stream (stream.h) it was last read and written; memory that is freed
// hands that on to whoever gets it next, so nothing waits on free. Free neighbours are merged only when
// nothing else fits: a training loop asks for the same sizes again. With LUNAGRAD_GPU_EXACT=1 in the
// environment each range is a block of its own, of exactly the bytes asked for, so that the validation layer
// sees every access beyond them. Not thread-safe: the device's lock guards it.
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "gpu/context.h"
#include "runtime/device.h"

namespace lunagrad::gpu {

struct Block;
class Memory;

// The handle behind a storage. Neighbours in the block are linked, so that free ones can merge.
struct Range {
  VkDeviceAddress address = 0;
  VkDeviceSize offset = 0;  // in the block's buffer
  VkDeviceSize size = 0;
  Block* block = nullptr;
  Range* before = nullptr;
  Range* after = nullptr;
  bool free = false;
  uint64_t read_epoch = 0;  // 0: never
  uint64_t written_epoch = 0;
  uint64_t batch = 0;   // the last one of the stream that used it
  uint64_t upload = 0;  // the last one that wrote it (uploads.h)
};

// Error of kind device when the range belongs to a memory that was lost.
void check_alive(const Range&, const Memory&);

struct Block {
  Memory* owner = nullptr;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceSize size = 0;
  Range* first = nullptr;
};

enum class HostUse { arguments, upload, download };

// A buffer that the host writes or reads directly, for arguments and staging.
class HostBuffer {
 public:
  HostBuffer(VulkanContext&, VkDeviceSize bytes, HostUse);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;

  VkBuffer buffer = VK_NULL_HANDLE;
  std::byte* mapped = nullptr;
  VkDeviceAddress address = 0;
  const VkDeviceSize size;

 private:
  VulkanContext& context_;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
};

class Memory {
 public:
  explicit Memory(VulkanContext&);
  ~Memory();
  Memory(const Memory&) = delete;

  Range* alloc(size_t bytes);  // Error of kind memory
  void free(Range*) noexcept;
  void release_unused();  // gives back blocks that are wholly free; the device must be idle
  DeviceMemory usage() const { return usage_; }
  void each_in_use(const std::function<void(Range&)>&) const;

 private:
  // Best fit; of equal sizes the lowest address, so that the order of allocation repeats from run to run.
  struct BySize {
    bool operator()(const Range* a, const Range* b) const {
      return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
  };
  Range* find(VkDeviceSize bytes);  // null when nothing fits; taken out of the free ones
  void add_block(VkDeviceSize bytes);
  void merge_free();

  VulkanContext& context_;
  const bool exact_;
  VkDeviceSize block_size_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::set<Range*, BySize> free_;
  DeviceMemory usage_;
};

}  // namespace lunagrad::gpu
