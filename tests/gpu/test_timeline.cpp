// A timeline whose driver fails to wait.
#include "gpu/vulkan/timeline.h"
#include "runtime/core/error.h"
#include "tests/gpu/hardware.h"

namespace lunagrad::tests {
namespace {

TEST_CASE("a driver whose wait fails is not taken for a device that does not answer") {
  const Hardware hardware = first_hardware();
  gpu::VulkanContext context(hardware.instance, hardware.physical);
  const VolkDeviceTable driver = context.vk;
  bool lost = false;
  gpu::Timeline timeline(context, lost);
  VkSemaphore before = VK_NULL_HANDLE;  // keeps the submission from completing
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
  REQUIRE(driver.vkCreateSemaphore(context.device, &info, nullptr, &before) == VK_SUCCESS);
  VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool_info.queueFamilyIndex = hardware.physical.queue_family;
  VkCommandPool pool = VK_NULL_HANDLE;
  REQUIRE(driver.vkCreateCommandPool(context.device, &pool_info, nullptr, &pool) == VK_SUCCESS);
  VkCommandBufferAllocateInfo commands_info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  commands_info.commandPool = pool;
  commands_info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  REQUIRE(driver.vkAllocateCommandBuffers(context.device, &commands_info, &commands) == VK_SUCCESS);
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  REQUIRE(driver.vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS);
  REQUIRE(driver.vkEndCommandBuffer(commands) == VK_SUCCESS);
  const gpu::Timeline::Point behind[] = {{before, 1}};
  timeline.submit(context.queue, commands, behind);

  static int waits;
  waits = 0;
  context.vk.vkWaitSemaphores = [](VkDevice, const VkSemaphoreWaitInfo*, uint64_t) {
    ++waits;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  };
  CHECK_FALSE(timeline.come_to_rest());
  CHECK(waits == 1);  // an error is not tried again
  CHECK_THROWS_AS(timeline.wait_for(1), Error);
  CHECK(waits == 2);
  CHECK_FALSE(lost);

  context.vk = driver;
  VkSemaphoreSignalInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
  signal.semaphore = before;
  signal.value = 1;
  REQUIRE(driver.vkSignalSemaphore(context.device, &signal) == VK_SUCCESS);
  timeline.wait_for(1);
  CHECK(timeline.come_to_rest());
  driver.vkDestroyCommandPool(context.device, pool, nullptr);
  driver.vkDestroySemaphore(context.device, before, nullptr);
}

}  // namespace
}  // namespace lunagrad::tests
