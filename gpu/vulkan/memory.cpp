#include "gpu/vulkan/memory.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "runtime/core/error.h"

namespace lunagrad::gpu {
namespace {

// A multiple of the size of every vector type and of every device's cache line.
constexpr VkDeviceSize kAlignment = 256;
constexpr VkDeviceSize kMiB = 1 << 20, kSmall = kMiB;

VkDeviceSize round_up(VkDeviceSize bytes, VkDeviceSize unit) { return (bytes + unit - 1) / unit * unit; }

struct BoundBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
};

void destroy_buffer(VulkanContext& context, VkBuffer buffer, VkDeviceMemory memory) {
  context.vk.vkDestroyBuffer(context.device, buffer, nullptr);
  context.vk.vkFreeMemory(context.device, memory, nullptr);
}

BoundBuffer make_buffer(VulkanContext& context, VkDeviceSize bytes, VkMemoryPropertyFlags required,
                        VkMemoryPropertyFlags preferred) {
  BoundBuffer made;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  const std::vector<uint32_t> families = context.physical.queue_families();
  if (families.size() > 1) {
    info.sharingMode = VK_SHARING_MODE_CONCURRENT;
    info.queueFamilyIndexCount = uint32_t(families.size());
    info.pQueueFamilyIndices = families.data();
  }
  check(context.vk.vkCreateBuffer(context.device, &info, nullptr, &made.buffer), "making a buffer");
  try {
    VkMemoryRequirements needs;
    context.vk.vkGetBufferMemoryRequirements(context.device, made.buffer, &needs);
    VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags};
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = context.memory_type(needs.memoryTypeBits, required, preferred);
    check(context.vk.vkAllocateMemory(context.device, &allocate, nullptr, &made.memory), "taking memory");
    check(context.vk.vkBindBufferMemory(context.device, made.buffer, made.memory, 0), "binding memory");
  } catch (...) {
    destroy_buffer(context, made.buffer, made.memory);
    throw;
  }
  VkBufferDeviceAddressInfo where{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  where.buffer = made.buffer;
  made.address = context.vk.vkGetBufferDeviceAddress(context.device, &where);
  return made;
}

// Joins a free range with the next one, which is free, too.
void absorb_next(Range& range) {
  Range* const next = range.after;
  range.size += next->size;
  range.read_epoch = std::max(range.read_epoch, next->read_epoch);
  range.written_epoch = std::max(range.written_epoch, next->written_epoch);
  range.batch = std::max(range.batch, next->batch);
  range.upload = std::max(range.upload, next->upload);
  range.after = next->after;
  if (range.after) range.after->before = &range;
  delete next;
}

bool exact_wanted() {
  const char* wish = std::getenv("LUNAGRAD_GPU_EXACT");
  return wish && std::string_view(wish) == "1";
}

}  // namespace

void check_alive(const Range& range, const Memory& memory) {
  if (range.block->owner != &memory)
    fail_as(ErrorKind::device,
            "vulkan: the tensor was on the device when that was lost; its values are gone");
}

HostBuffer::HostBuffer(VulkanContext& context, VkDeviceSize bytes, HostUse use)
    : size(bytes), context_(context) {
  // All invocations of a dispatch read the arguments, so device-local memory is preferred for them. Memory
  // that the host reads should be cached.
  const VkMemoryPropertyFlags preferred = use == HostUse::arguments  ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
                                          : use == HostUse::download ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT
                                                                     : 0;
  const BoundBuffer made = make_buffer(
      context, bytes, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, preferred);
  void* pointer = nullptr;
  const VkResult result = context.vk.vkMapMemory(context.device, made.memory, 0, VK_WHOLE_SIZE, 0, &pointer);
  if (result != VK_SUCCESS) destroy_buffer(context, made.buffer, made.memory);
  check(result, "mapping memory");
  buffer = made.buffer;
  memory_ = made.memory;
  mapped = static_cast<std::byte*>(pointer);
  address = made.address;
}

HostBuffer::~HostBuffer() { destroy_buffer(context_, buffer, memory_); }

Memory::Memory(VulkanContext& context) : context_(context), exact_(exact_wanted()) {
  usage_.total = size_t(context.heap_size());
  block_size_ = usage_.total >= (size_t(16) << 30) ? 128 * kMiB : 32 * kMiB;
}

Memory::~Memory() {
  for (const auto& block : blocks_) {
    for (Range* range = block->first; range;) delete std::exchange(range, range->after);
    destroy_buffer(context_, block->buffer, block->memory);
  }
}

VkDeviceSize Memory::size_of(size_t bytes) const {
  return exact_ ? std::max<size_t>(bytes, 4) : round_up(std::max<size_t>(bytes, 1), kAlignment);
}

// A range of half a block or more gets a block of its size: two such ranges seldom fill a block.
VkDeviceSize Memory::block_for(VkDeviceSize size) const {
  if (exact_) return size;
  if (size < kSmall) return block_size_ / 8;
  return size >= block_size_ / 2 ? round_up(size, 2 * kMiB) : block_size_;
}

void Memory::add_block(VkDeviceSize bytes, bool small) {
  const VkDeviceSize size = block_for(bytes);
  if (const VkDeviceSize room = context_.room(); size > room)
    fail_as(ErrorKind::memory, "vulkan: ", size, " bytes do not fit the ", room, " that are left");
  const BoundBuffer made = make_buffer(context_, size, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  auto block = std::make_unique<Block>();
  block->owner = this;
  block->buffer = made.buffer;
  block->memory = made.memory;
  block->size = size;
  block->small = small;
  block->first = new Range{.address = made.address, .size = size, .block = block.get(), .free = true};
  free_ranges(small).insert(block->first);
  blocks_.push_back(std::move(block));
  usage_.reserved += size_t(size);
  most_reserved_ = std::max(most_reserved_, usage_.reserved);
}

bool Memory::make_room(VkDeviceSize bytes, bool small) {
  try {
    add_block(bytes, small);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
    return false;
  }
  return true;
}

Range* Memory::find(VkDeviceSize bytes, bool small) {
  FreeRanges& ranges = free_ranges(small);
  Range wanted;
  wanted.size = bytes;
  const auto found = ranges.lower_bound(&wanted);
  if (found == ranges.end()) return nullptr;
  Range* range = *found;
  if (exact_ && range->size != bytes) return nullptr;
  ranges.erase(found);
  // A range that is at most an eighth too large is not split. So it fits the same request again.
  if (range->size - bytes <= bytes / 8) return range;
  Range* rest = new Range(*range);
  rest->address += bytes;
  rest->offset += bytes;
  rest->size -= bytes;
  rest->before = range;
  if (rest->after) rest->after->before = rest;
  range->after = rest;
  range->size = bytes;
  ranges.insert(rest);
  return range;
}

void Memory::join_small() {
  free_small_.clear();
  for (const auto& block : blocks_) {
    if (!block->small) continue;
    for (Range* range = block->first; range; range = range->after) {
      if (!range->free) continue;
      while (range->after && range->after->free) absorb_next(*range);
      free_small_.insert(range);
    }
  }
}

Range* Memory::alloc(size_t bytes) {
  if (bytes > SIZE_MAX / 2) fail_as(ErrorKind::memory, "vulkan: a tensor of ", bytes, " bytes is too large");
  const VkDeviceSize size = size_of(bytes);
  const bool small = !exact_ && size < kSmall;
  Range* range = find(size, small);
  if (!range && small) {
    join_small();
    range = find(size, small);
  }
  if (!range) {
    if (!make_room(size, small)) {
      for (KeptMemory* const kept : kept_) kept->clear();
      join_small();
    }
    range = find(size, small);
    if (!range) range = find(size, !small);
  }
  if (!range)
    fail_as(ErrorKind::memory, "vulkan: ", context_.physical.name, " has no room for another ", bytes,
            " bytes (", usage_.in_use, " in use, ", usage_.reserved, " reserved of ", usage_.total, ")");
  ++allocations_;
  range->free = false;
  usage_.in_use += size_t(range->size);
  usage_.peak = std::max(usage_.peak, usage_.in_use);
  return range;
}

void Memory::free(Range* range) noexcept {
  usage_.in_use -= size_t(range->size);
  range->free = true;
  range->spoiled = nullptr;
  if (freed_) freed_->freed(range);
  if (!range->block->small) {
    if (Range* const after = range->after; after && after->free) {
      free_.erase(after);
      absorb_next(*range);
    }
    if (Range* const before = range->before; before && before->free) {
      free_.erase(before);
      absorb_next(*before);
      range = before;
    }
  }
  free_ranges(range->block->small).insert(range);
}

void Memory::each_in_use(const std::function<void(Range&)>& visit) const {
  for (const auto& block : blocks_)
    for (Range* range = block->first; range; range = range->after)
      if (!range->free) visit(*range);
}

void Memory::destroy(Block& block) {
  free_ranges(block.small).erase(block.first);
  delete block.first;
  destroy_buffer(context_, block.buffer, block.memory);
  usage_.reserved -= size_t(block.size);
}

void Memory::release_unused() {
  join_small();
  std::erase_if(blocks_, [&](const std::unique_ptr<Block>& block) {
    if (!is_unused(*block)) return false;
    destroy(*block);
    return true;
  });
}

bool Memory::should_give_back_for(size_t bytes) const {
  // A program whose steps differ in their sizes must not exchange blocks all the time.
  constexpr uint64_t kAtFirst = 16, kAllocationsForOne = 256;
  const VkDeviceSize size = size_of(bytes);
  if (exact_ || size < kSmall || given_back_ > kAtFirst + allocations_ / kAllocationsForOne) return false;
  if (!free_.empty() && (*free_.rbegin())->size >= size) return false;
  if (usage_.reserved + block_for(size) <= most_reserved_) return false;
  return std::any_of(blocks_.begin(), blocks_.end(),
                     [](const auto& block) { return !block->small && is_unused(*block); });
}

void Memory::give_back_for(size_t bytes) {
  const VkDeviceSize more = block_for(size_of(bytes));
  while (usage_.reserved + more > most_reserved_) {
    auto largest = blocks_.end();
    for (auto it = blocks_.begin(); it != blocks_.end(); ++it)
      if (!(*it)->small && is_unused(**it) && (largest == blocks_.end() || (*it)->size > (*largest)->size))
        largest = it;
    if (largest == blocks_.end()) return;
    destroy(**largest);
    blocks_.erase(largest);
    ++given_back_;
  }
}

}  // namespace lunagrad::gpu
