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
  const VkDeviceSize mib = 1 << 20;
  block_size_ = usage_.total >= (size_t(16) << 30) ? 256 * mib : 64 * mib;
}

Memory::~Memory() {
  for (const auto& block : blocks_) {
    for (Range* range = block->first; range;) delete std::exchange(range, range->after);
    destroy_buffer(context_, block->buffer, block->memory);
  }
}

void Memory::add_block(VkDeviceSize bytes) {
  if (const VkDeviceSize room = context_.room(); bytes > room)
    fail_as(ErrorKind::memory, "vulkan: ", bytes, " bytes do not fit the ", room, " that are left");
  const VkDeviceSize size = exact_ ? bytes : std::max(block_size_, round_up(bytes, 2 << 20));
  const BoundBuffer made = make_buffer(context_, size, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
  auto block = std::make_unique<Block>();
  block->owner = this;
  block->buffer = made.buffer;
  block->memory = made.memory;
  block->size = size;
  block->first = new Range{.address = made.address, .size = size, .block = block.get(), .free = true};
  free_.insert(block->first);
  blocks_.push_back(std::move(block));
  usage_.reserved += size_t(size);
}

bool Memory::make_room(VkDeviceSize bytes) {
  try {
    add_block(bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
    return false;
  }
  return true;
}

Range* Memory::find(VkDeviceSize bytes) {
  Range wanted;
  wanted.size = bytes;
  const auto found = free_.lower_bound(&wanted);
  if (found == free_.end()) return nullptr;
  Range* range = *found;
  if (exact_ && range->size != bytes) return nullptr;
  free_.erase(found);
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
  free_.insert(rest);
  return range;
}

void Memory::merge_free() {
  free_.clear();
  for (const auto& block : blocks_) {
    for (Range* range = block->first; range; range = range->after) {
      if (!range->free) continue;
      while (Range* next = range->after) {
        if (!next->free) break;
        range->size += next->size;
        range->read_epoch = std::max(range->read_epoch, next->read_epoch);
        range->written_epoch = std::max(range->written_epoch, next->written_epoch);
        range->batch = std::max(range->batch, next->batch);
        range->upload = std::max(range->upload, next->upload);
        range->after = next->after;
        if (range->after) range->after->before = range;
        delete next;
      }
      free_.insert(range);
    }
  }
}

Range* Memory::alloc(size_t bytes) {
  if (bytes > SIZE_MAX / 2) fail_as(ErrorKind::memory, "vulkan: a tensor of ", bytes, " bytes is too large");
  const VkDeviceSize size =
      exact_ ? std::max<size_t>(bytes, 4) : round_up(std::max<size_t>(bytes, 1), kAlignment);
  Range* range = find(size);
  if (!range) {
    merge_free();
    range = find(size);
  }
  if (!range) {
    if (!make_room(size)) {
      for (KeptMemory* const kept : kept_) kept->clear();
      merge_free();
    }
    range = find(size);
  }
  if (!range)
    fail_as(ErrorKind::memory, "vulkan: ", context_.physical.name, " has no room for another ", bytes,
            " bytes (", usage_.in_use, " in use, ", usage_.reserved, " reserved of ", usage_.total, ")");
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
  free_.insert(range);
}

void Memory::each_in_use(const std::function<void(Range&)>& visit) const {
  for (const auto& block : blocks_)
    for (Range* range = block->first; range; range = range->after)
      if (!range->free) visit(*range);
}

void Memory::release_unused() {
  merge_free();
  std::erase_if(blocks_, [&](const std::unique_ptr<Block>& block) {
    if (!block->first->free || block->first->after) return false;
    free_.erase(block->first);
    delete block->first;
    destroy_buffer(context_, block->buffer, block->memory);
    usage_.reserved -= size_t(block->size);
    return true;
  });
}

}  // namespace lunagrad::gpu
