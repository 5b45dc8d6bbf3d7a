#include "window.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "lunagrad-embed-vulkan: %s\n", what);
  std::exit(1);
}

void check(VkResult result, const char* doing) {
  if (result != VK_SUCCESS && result != VK_SUBOPTIMAL_KHR) fail(doing);
}

VkSemaphore make_semaphore(VkDevice device, VkSemaphoreType type) {
  VkSemaphoreTypeCreateInfo kind{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  kind.semaphoreType = type;
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &kind};
  VkSemaphore made;
  check(vkCreateSemaphore(device, &info, nullptr, &made), "making a semaphore");
  return made;
}

// Handles of Lunagrad's C interface are numbers.
template <class Handle>
Handle handle_of(uint64_t number) {
  Handle handle;
  std::memcpy(&handle, &number, sizeof handle);
  return handle;
}

}  // namespace

void require(lg_code code) {
  if (code == LG_OK) return;
  const char* text = "";
  lg_last_error(&text, nullptr);
  fail(text);
}

Window::Window(const char* title, int size, uint32_t side) : side_(side) {
  if (!glfwInit()) fail("there is no display");
  glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
  glfwWindowHint(GLFW_RESIZABLE, GLFW_FALSE);
  window_ = glfwCreateWindow(size, size, title, nullptr, nullptr);
  if (!window_ || !glfwVulkanSupported()) fail("there is no window with Vulkan");
  open_device();
  make_swapchain();
  make_picture();
  acquired_ = make_semaphore(device_, VK_SEMAPHORE_TYPE_BINARY);
  painted_ = make_semaphore(device_, VK_SEMAPHORE_TYPE_BINARY);
  timeline_ = make_semaphore(device_, VK_SEMAPHORE_TYPE_TIMELINE);
}

Window::~Window() {
  vkDeviceWaitIdle(device_);
  for (const VkSemaphore semaphore : {acquired_, painted_, timeline_})
    vkDestroySemaphore(device_, semaphore, nullptr);
  vkDestroyCommandPool(device_, pool_, nullptr);
  vkDestroyImage(device_, picture_, nullptr);
  vkFreeMemory(device_, memory_, nullptr);
  vkDestroySwapchainKHR(device_, swapchain_, nullptr);
  vkDestroyDevice(device_, nullptr);
  vkDestroySurfaceKHR(instance_, surface_, nullptr);
  vkDestroyInstance(instance_, nullptr);
  glfwDestroyWindow(window_);
  glfwTerminate();
}

// The features that Lunagrad needs, and the swapchain.
void Window::open_device() {
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo instance{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  instance.pApplicationInfo = &application;
  instance.ppEnabledExtensionNames = glfwGetRequiredInstanceExtensions(&instance.enabledExtensionCount);
  check(vkCreateInstance(&instance, nullptr, &instance_), "making the instance");
  check(glfwCreateWindowSurface(instance_, window_, nullptr, &surface_), "making the surface");
  uint32_t count = 1;
  if (vkEnumeratePhysicalDevices(instance_, &count, &physical_) < 0 || count == 0)
    fail("there is no Vulkan device");

  uint32_t families = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &families, nullptr);
  std::vector<VkQueueFamilyProperties> all(families);
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &families, all.data());
  const auto fits = [&](uint32_t family) {
    VkBool32 shows = VK_FALSE;
    vkGetPhysicalDeviceSurfaceSupportKHR(physical_, family, surface_, &shows);
    constexpr VkQueueFlags kWanted = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT;
    return shows && (all[family].queueFlags & kWanted) == kWanted;
  };
  while (family_ < families && !fits(family_)) ++family_;
  if (family_ == families) fail("no queue computes and draws");

  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkPhysicalDeviceVulkan12Features v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  v12.storageBuffer8BitAccess = v12.bufferDeviceAddress = v12.timelineSemaphore = v12.scalarBlockLayout =
      VK_TRUE;
  VkPhysicalDeviceVulkan11Features v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &v12};
  v11.storageBuffer16BitAccess = VK_TRUE;
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &v11};
  features.features.shaderInt64 = VK_TRUE;
  const char* const extension = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = &extension;
  check(vkCreateDevice(physical_, &info, nullptr, &device_), "opening the device");
  vkGetDeviceQueue(device_, family_, 0, &queue_);
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = family_;
  check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "making a command pool");
  VkCommandBufferAllocateInfo buffer{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  buffer.commandPool = pool_;
  buffer.commandBufferCount = 1;
  check(vkAllocateCommandBuffers(device_, &buffer, &commands_), "making a command buffer");
}

void Window::make_swapchain() {
  VkSurfaceCapabilitiesKHR surface;
  check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical_, surface_, &surface), "asking the surface");
  uint32_t count = 1;
  VkSurfaceFormatKHR format;
  vkGetPhysicalDeviceSurfaceFormatsKHR(physical_, surface_, &count, &format);
  extent_ = surface.currentExtent;
  VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
  info.surface = surface_;
  info.minImageCount = surface.minImageCount + 1;
  info.imageFormat = format.format;
  info.imageColorSpace = format.colorSpace;
  info.imageExtent = extent_;
  info.imageArrayLayers = 1;
  info.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  info.preTransform = surface.currentTransform;
  info.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR;
  info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
  info.clipped = VK_TRUE;
  check(vkCreateSwapchainKHR(device_, &info, nullptr, &swapchain_), "making the swapchain");
  vkGetSwapchainImagesKHR(device_, swapchain_, &count, nullptr);
  images_.resize(count);
  vkGetSwapchainImagesKHR(device_, swapchain_, &count, images_.data());
}

void Window::make_picture() {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = VK_FORMAT_R8G8B8A8_UNORM;
  info.extent = {side_, side_, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  check(vkCreateImage(device_, &info, nullptr, &picture_), "making an image");
  VkMemoryRequirements needs;
  vkGetImageMemoryRequirements(device_, picture_, &needs);
  VkMemoryAllocateInfo memory{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  memory.allocationSize = needs.size;
  while (!(needs.memoryTypeBits >> memory.memoryTypeIndex & 1)) ++memory.memoryTypeIndex;
  check(vkAllocateMemory(device_, &memory, nullptr, &memory_), "taking memory");
  check(vkBindImageMemory(device_, picture_, memory_, 0), "binding memory");
}

lg_vulkan Window::vulkan() const {
  lg_vulkan given{};
  given.struct_size = sizeof given;
  given.queue_family = family_;
  given.instance = instance_;
  given.physical_device = physical_;
  given.device = device_;
  given.queue = queue_;
  return given;
}

bool Window::wants_to_close() {
  glfwPollEvents();
  return glfwWindowShouldClose(window_);
}

uint64_t Window::semaphore() const {
  uint64_t number = 0;
  std::memcpy(&number, &timeline_, sizeof timeline_);
  return number;
}

void Window::record(VkImage target, const lg_vulkan_buffer& pixels) {
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(commands_, &begin), "recording");
  const auto becomes = [&](VkImage image, VkImageLayout before, VkImageLayout after) {
    VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.oldLayout = before;
    barrier.newLayout = after;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
                         nullptr, 0, nullptr, 1, &barrier);
  };
  const VkImageSubresourceLayers layer{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  becomes(picture_, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
  const VkBufferImageCopy copy{pixels.offset, 0, 0, layer, {}, {side_, side_, 1}};
  vkCmdCopyBufferToImage(commands_, handle_of<VkBuffer>(pixels.buffer), picture_,
                         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
  becomes(picture_, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
  becomes(target, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
  const VkOffset3D from{int32_t(side_), int32_t(side_), 1},
      to{int32_t(extent_.width), int32_t(extent_.height), 1};
  const VkImageBlit blit{layer, {{}, from}, layer, {{}, to}};
  vkCmdBlitImage(commands_, picture_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, target,
                 VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &blit, VK_FILTER_LINEAR);
  becomes(target, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
  check(vkEndCommandBuffer(commands_), "recording");
}

uint64_t Window::paint(const lg_vulkan_buffer& pixels) {
  // The command buffer of the last frame is recorded again.
  VkSemaphoreWaitInfo last{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  last.semaphoreCount = 1;
  last.pSemaphores = &timeline_;
  last.pValues = &frames_;
  check(vkWaitSemaphores(device_, &last, UINT64_MAX), "waiting for the last frame");
  uint32_t image = 0;
  check(vkAcquireNextImageKHR(device_, swapchain_, UINT64_MAX, acquired_, VK_NULL_HANDLE, &image),
        "taking an image");
  record(images_[image], pixels);

  ++frames_;
  const VkSemaphore waits[] = {acquired_, handle_of<VkSemaphore>(pixels.semaphore)},
                    signals[] = {painted_, timeline_};
  const uint64_t awaited[] = {0, pixels.value}, signalled[] = {0, frames_};
  const VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
  VkTimelineSemaphoreSubmitInfo values{
      VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr, 2, awaited, 2, signalled};
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values, 2, waits, stages, 1, &commands_, 2, signals};
  check(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "submitting");
  VkPresentInfoKHR present{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
  present.waitSemaphoreCount = 1;
  present.pWaitSemaphores = &painted_;
  present.swapchainCount = 1;
  present.pSwapchains = &swapchain_;
  present.pImageIndices = &image;
  check(vkQueuePresentKHR(queue_, &present), "presenting");
  return frames_;
}
