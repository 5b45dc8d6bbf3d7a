#include "gpu/vulkan/timeline.h"

#include <chrono>
#include <vector>

namespace lunagrad::gpu {
namespace {

using Clock = std::chrono::steady_clock;

// How long to wait while no submission finishes. CPU drivers compile shaders when they run them, which takes
// minutes on a busy machine.
std::chrono::seconds patience(const PhysicalDevice& physical) {
  return std::chrono::seconds(physical.type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 600 : 20);
}

}  // namespace

Timeline::Timeline(VulkanContext& context, bool& lost) : context_(context), lost_(lost) {
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  check(context.vk.vkCreateSemaphore(context.device, &info, nullptr, &semaphore_), "making a semaphore");
}

Timeline::~Timeline() { context_.vk.vkDestroySemaphore(context_.device, semaphore_, nullptr); }

void Timeline::check_alive(VkResult result, const char* doing) {
  if (result == VK_ERROR_DEVICE_LOST || result == VK_TIMEOUT) lost_ = true;
  check(result, doing);
}

void Timeline::submit(VkQueue queue, VkCommandBuffer commands, std::span<const Point> waits) {
  std::vector<VkSemaphore> semaphores;
  std::vector<uint64_t> values;
  for (const Point& point : waits) {
    semaphores.push_back(point.semaphore);
    values.push_back(point.value);
  }
  const std::vector<VkPipelineStageFlags> stages(waits.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  const uint64_t value = submitted_ + 1;
  VkTimelineSemaphoreSubmitInfo timeline{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  timeline.waitSemaphoreValueCount = uint32_t(waits.size());
  timeline.pWaitSemaphoreValues = values.data();
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &value;
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &timeline};
  info.waitSemaphoreCount = uint32_t(waits.size());
  if (!waits.empty()) {
    info.pWaitSemaphores = semaphores.data();
    info.pWaitDstStageMask = stages.data();
  }
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &semaphore_;
  const QueueLock lock(context_.physical);
  check_alive(context_.vk.vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE), "submitting work");
  submitted_ = value;
}

uint64_t Timeline::ask() {
  check_alive(context_.vk.vkGetSemaphoreCounterValue(context_.device, semaphore_, &reached_),
              "asking how far the work is");
  return reached_;
}

void Timeline::wait_for(uint64_t value) {
  check_alive(await(context_, at(value), reached_), "waiting for the device");
}

// A lost device does no more work.
bool Timeline::come_to_rest() noexcept {
  const VkResult result = await(context_, at(submitted_), reached_);
  return result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST;
}

VkResult Timeline::await(VulkanContext& context, Point point, uint64_t& reached) noexcept {
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &point.semaphore;
  info.pValues = &point.value;
  constexpr uint64_t kSlice = 250'000'000;  // ns
  auto last_progress = Clock::now();
  while (reached < point.value) {
    const VkResult waited = context.vk.vkWaitSemaphores(context.device, &info, kSlice);
    if (waited != VK_SUCCESS && waited != VK_TIMEOUT) return waited;
    const uint64_t before = reached;
    const VkResult asked = context.vk.vkGetSemaphoreCounterValue(context.device, point.semaphore, &reached);
    if (asked != VK_SUCCESS) return asked;
    if (reached != before)
      last_progress = Clock::now();
    else if (Clock::now() - last_progress > patience(context.physical))
      return VK_TIMEOUT;
  }
  return VK_SUCCESS;
}

}  // namespace lunagrad::gpu
