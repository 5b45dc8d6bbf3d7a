#pragma once
// Device memory: ranges of a few large blocks, each one VkBuffer, that are reused in stream order. A range
// stores the epochs of the stream (stream.h) in which it was last read and written. A freed range keeps them,
// so that its next user is ordered after the previous one and free() need not wait. A freed range is joined
// with free neighbours, else a step's large tensors would not fit where smaller ones had been. Small ranges
// have blocks of their own, and are joined only if none is large enough: a joined range has the latest epochs
// of its parts, and a needless barrier delays small kernels most. With LUNAGRAD_GPU_EXACT=1 in
// the environment each range is a block of its own with exactly the requested bytes, so that the validation
// layer detects all accesses out of bounds. Not thread-safe: the device's lock guards it.
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gpu/vulkan/context.h"
#include "runtime/core/device.h"

namespace lunagrad::gpu {

struct Block;
class Memory;

// The handle of a storage. The ranges of a block are linked in order of their addresses.
struct Range {
  VkDeviceAddress address = 0;
  VkDeviceSize offset = 0;  // offset in the block's buffer
  VkDeviceSize size = 0;
  Block* block = nullptr;
  Range* before = nullptr;
  Range* after = nullptr;
  bool free = false;
  uint64_t read_epoch = 0;  // 0: never
  uint64_t written_epoch = 0;
  uint64_t batch = 0;   // the last batch of the stream that used it
  uint64_t upload = 0;  // the last upload that wrote the range (uploads.h)
  // written_epoch and upload after a write of indices in ascending order
  uint64_t ascending_epoch = 0, ascending_upload = 0;
  std::shared_ptr<const std::string> spoiled;  // why its values are wrong (faults.h); null: they are right
};

// Throws an Error of kind device if the range belongs to another Memory, that is, to a lost device.
void check_alive(const Range&, const Memory&);

struct Block {
  Memory* owner = nullptr;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceSize size = 0;
  Range* first = nullptr;
  bool small = false;  // for small ranges
};

// Listener that is called for each freed range.
class FreedRanges {
 public:
  virtual ~FreedRanges() = default;
  virtual void freed(const Range*) noexcept = 0;
};

// Memory that is kept only to save time. It is freed before an allocation fails.
class KeptMemory {
 public:
  virtual ~KeptMemory() = default;
  virtual void clear() noexcept = 0;
};

enum class HostUse { arguments, upload, download };

// A mapped buffer, for arguments and staging.
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

  Range* alloc(size_t bytes);  // throws an Error of kind memory
  void free(Range*) noexcept;
  void release_unused();  // frees blocks without used ranges; the device must be idle
  // Whether alloc(bytes) would reserve more than ever before although a block has no used range. Then
  // give_back_for(bytes), for which the device must be idle, frees such blocks.
  bool should_give_back_for(size_t bytes) const;
  void give_back_for(size_t bytes);
  DeviceMemory usage() const { return usage_; }
  void reset_peak() { usage_.peak = usage_.in_use; }
  void tell(FreedRanges* listener) { freed_ = listener; }
  void may_clear(KeptMemory* kept) { kept_.push_back(kept); }
  void each_in_use(const std::function<void(Range&)>&) const;

 private:
  // Best fit; among equal sizes the lowest address, so that runs allocate in the same order.
  struct BySize {
    bool operator()(const Range* a, const Range* b) const {
      return a->size != b->size ? a->size < b->size : a->address < b->address;
    }
  };
  using FreeRanges = std::set<Range*, BySize>;
  static bool is_unused(const Block& block) { return block.first->free && !block.first->after; }
  FreeRanges& free_ranges(bool small) { return small ? free_small_ : free_; }
  VkDeviceSize size_of(size_t bytes) const;         // of a range
  VkDeviceSize block_for(VkDeviceSize size) const;  // the size of a new block for a range
  Range* find(VkDeviceSize, bool small);            // removes a free range; null if none is large enough
  void add_block(VkDeviceSize, bool small);
  bool make_room(VkDeviceSize, bool small);  // adds a block; false: there is no memory for one
  void join_small();
  void destroy(Block&);  // an unused block

  VulkanContext& context_;
  const bool exact_;
  VkDeviceSize block_size_;
  size_t most_reserved_ = 0;
  uint64_t allocations_ = 0, given_back_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
  FreeRanges free_, free_small_;
  DeviceMemory usage_;
  FreedRanges* freed_ = nullptr;
  std::vector<KeptMemory*> kept_;
};

}  // namespace lunagrad::gpu
