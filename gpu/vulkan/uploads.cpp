#include "gpu/vulkan/uploads.h"

#include <algorithm>
#include <cstring>

namespace lunagrad::gpu {

Uploads::Uploads(VulkanContext& context, bool& lost)
    : context_(context), timeline_(context, lost), staging_(context, kParts * kPartBytes, HostUse::upload) {
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = context.physical.upload_queue->family;
  check(context.vk.vkCreateCommandPool(context.device, &pool, nullptr, &pool_), "making a command pool");
  VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = kParts;
  const VkResult result = context.vk.vkAllocateCommandBuffers(context.device, &info, commands_.data());
  if (result != VK_SUCCESS) context.vk.vkDestroyCommandPool(context.device, pool_, nullptr);
  check(result, "making command buffers");
}

Uploads::~Uploads() { context_.vk.vkDestroyCommandPool(context_.device, pool_, nullptr); }

void Uploads::copy(Range& range, VkDeviceSize offset, const void* from, VkDeviceSize bytes,
                   Timeline::Point done, StreamListener* listener) {
  const std::byte* next = static_cast<const std::byte*>(from);
  // Wait for an earlier upload to the same range.
  const uint64_t earlier = range.upload;
  const std::array waits = {done, timeline_.at(earlier)};
  while (bytes > 0) {
    const size_t part = next_;
    timeline_.wait_for(values_[part]);
    const VkBufferCopy copy{part * kPartBytes, range.offset + offset, std::min(bytes, kPartBytes)};
    std::memcpy(staging_.mapped + copy.srcOffset, next, copy.size);
    // An error may have aborted the last recording.
    check(context_.vk.vkResetCommandBuffer(commands_[part], 0), "resetting a command buffer");
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(context_.vk.vkBeginCommandBuffer(commands_[part], &begin), "beginning a command buffer");
    context_.vk.vkCmdCopyBuffer(commands_[part], staging_.buffer, range.block->buffer, 1, &copy);
    check(context_.vk.vkEndCommandBuffer(commands_[part]), "ending a command buffer");
    timeline_.submit(context_.upload_queue, commands_[part], waits);
    values_[part] = range.upload = timeline_.submitted();
    if (listener) listener->uploaded(range.address + offset, copy.size, range.upload, done.value, earlier);
    next_ = (part + 1) % kParts;
    next += copy.size;
    offset += copy.size;
    bytes -= copy.size;
  }
}

}  // namespace lunagrad::gpu
