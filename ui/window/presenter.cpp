#include "ui/window/presenter.h"

#include <backends/imgui_impl_vulkan.h>
#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "ui/window/draw_threads.h"
#include "ui/window/glfw.h"
#include "ui/window/texture_store.h"
#include "ui/window/vulkan_result.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop
#undef STB_IMAGE_WRITE_IMPLEMENTATION
#undef STB_IMAGE_WRITE_STATIC

namespace lunagrad {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

void check_imgui(VkResult result) { check(result, "drawing the window"); }

VkBool32 VKAPI_PTR on_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                              const VkDebugUtilsMessengerCallbackDataEXT* data, void* count) {
  ++*static_cast<int*>(count);
  std::fprintf(stderr, "validation: %s\n", data->pMessage);
  return VK_FALSE;
}

// Returns the list of a Vulkan function that is called twice: first for the count, then for the elements.
template <class T, class Function>
std::vector<T> enumerate(Function function) {
  uint32_t count = 0;
  check(function(&count, nullptr), "asking Vulkan for a list");
  std::vector<T> items(count);
  check(function(&count, items.data()), "asking Vulkan for a list");
  items.resize(count);
  return items;
}

bool has_layer(const char* name) {
  for (const VkLayerProperties& layer : enumerate<VkLayerProperties>(vkEnumerateInstanceLayerProperties))
    if (std::strcmp(layer.layerName, name) == 0) return true;
  return false;
}

}  // namespace

Presenter::Presenter(GLFWwindow* window, bool validation)
    : window_(window), messages_(std::make_unique<int>(0)) {
  const Stopwatch watch;
  const std::set<int> threads = driver_threads();
  try {
    make_instance(validation);
    if (glfwCreateWindowSurface(instance_, window_, nullptr, &surface_) != VK_SUCCESS)
      fail_as(ErrorKind::device,
              "no Vulkan driver can draw in this window: install one (package mesa-vulkan-drivers)");
    make_device();
    make_render_pass();
    make_frames();
    start_imgui();
    driver_time_ = watch.spent();
    if (software_) let_driver_threads_yield(threads);
    textures_ = std::make_unique<TextureStore>(
        device_, pass_,
        [this](uint32_t allowed, VkMemoryPropertyFlags wanted) { return memory_type(allowed, wanted); });
  } catch (...) {
    release();
    throw;
  }
}

Presenter::~Presenter() { release(); }

void Presenter::start_imgui() {
  ImGui_ImplVulkan_InitInfo info{};
  info.Instance = instance_;
  info.PhysicalDevice = physical_;
  info.Device = device_;
  info.QueueFamily = family_;
  info.Queue = queue_;
  info.DescriptorPool = descriptors_;
  info.MinImageCount = 2;
  info.ImageCount = uint32_t(frames_.size());
  info.MSAASamples = VK_SAMPLE_COUNT_1_BIT;
  info.CheckVkResultFn = check_imgui;
  ImGui_ImplVulkan_Init(&info, pass_);
}

void Presenter::release() {
  if (device_) {
    vkDeviceWaitIdle(device_);
    textures_.reset();
    if (ImGui::GetIO().BackendRendererUserData) ImGui_ImplVulkan_Shutdown();
    drop_swapchain();
    for (const Frame& frame : frames_) {
      vkDestroyFence(device_, frame.done, nullptr);
      vkDestroySemaphore(device_, frame.acquired, nullptr);
      vkDestroyCommandPool(device_, frame.pool, nullptr);
    }
    vkDestroyRenderPass(device_, pass_, nullptr);
    vkDestroyDescriptorPool(device_, descriptors_, nullptr);
    vkDestroyDevice(device_, nullptr);
  }
  if (surface_) vkDestroySurfaceKHR(instance_, surface_, nullptr);
  if (messenger_) {
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(instance_, messenger_, nullptr);
  }
  if (instance_) vkDestroyInstance(instance_, nullptr);
}

int Presenter::validation_messages() const { return *messages_; }

void Presenter::make_instance(bool validation) {
  uint32_t count = 0;
  const char** needed = glfwGetRequiredInstanceExtensions(&count);
  if (!needed)
    fail_as(ErrorKind::device,
            "this display cannot show Vulkan: install a Vulkan driver (package mesa-vulkan-drivers)");
  std::vector<const char*> extensions(needed, needed + count);
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "lunagrad-workbench";
  application.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  VkDebugUtilsMessengerCreateInfoEXT listen{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  const VkValidationFeatureEnableEXT enabled[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  if (validation) {
    if (!has_layer(kValidationLayer))
      fail_as(ErrorKind::device, kValidationLayer, " is missing (package vulkan-validationlayers)");
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    listen.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    listen.messageType =
        VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    listen.pfnUserCallback = on_message;
    listen.pUserData = messages_.get();
    features.enabledValidationFeatureCount = 1;
    features.pEnabledValidationFeatures = enabled;
    features.pNext = &listen;
    info.pNext = &features;
  }
  info.enabledExtensionCount = uint32_t(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  if (vkCreateInstance(&info, nullptr, &instance_) != VK_SUCCESS)
    fail_as(ErrorKind::device, "no Vulkan driver was found: install one (package mesa-vulkan-drivers)");
  if (validation) {
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkCreateDebugUtilsMessengerEXT"));
    check(create(instance_, &listen, nullptr, &messenger_), "listening to validation");
  }
}

// Prefers a discrete device to an integrated one, and an integrated one to a CPU implementation, among the
// devices that can present to this window.
void Presenter::make_device() {
  int best = -1;
  const auto devices = enumerate<VkPhysicalDevice>([&](uint32_t* count, VkPhysicalDevice* out) {
    return vkEnumeratePhysicalDevices(instance_, count, out);
  });
  for (VkPhysicalDevice candidate : devices) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(candidate, &properties);
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(candidate, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(candidate, &count, families.data());
    const int score = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU     ? 3
                      : properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? 2
                      : properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU            ? 0
                                                                                        : 1;
    for (uint32_t f = 0; f < count && score > best; ++f) {
      VkBool32 presents = VK_FALSE;
      vkGetPhysicalDeviceSurfaceSupportKHR(candidate, f, surface_, &presents);
      if (!presents || !(families[f].queueFlags & VK_QUEUE_GRAPHICS_BIT)) continue;
      best = score;
      physical_ = candidate;
      family_ = f;
      device_name_ = properties.deviceName;
      software_ = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    }
  }
  if (!physical_)
    fail_as(ErrorKind::device,
            "no Vulkan device can draw in this window: install a driver (package mesa-vulkan-drivers)");

  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  const char* swapchain = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = &swapchain;
  check(vkCreateDevice(physical_, &info, nullptr, &device_), "making the Vulkan device of the window");
  vkGetDeviceQueue(device_, family_, 0, &queue_);

  const auto formats = enumerate<VkSurfaceFormatKHR>([&](uint32_t* count, VkSurfaceFormatKHR* out) {
    return vkGetPhysicalDeviceSurfaceFormatsKHR(physical_, surface_, count, out);
  });
  format_ = formats.at(0);
  for (const VkSurfaceFormatKHR& f : formats)
    if (f.format == VK_FORMAT_B8G8R8A8_UNORM || f.format == VK_FORMAT_R8G8B8A8_UNORM) {
      format_ = f;
      break;
    }
}

void Presenter::make_render_pass() {
  VkAttachmentDescription color{};
  color.format = format_.format;
  color.samples = VK_SAMPLE_COUNT_1_BIT;
  color.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
  color.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
  color.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
  color.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
  color.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  color.finalLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
  VkAttachmentReference reference{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
  VkSubpassDescription subpass{};
  subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  subpass.colorAttachmentCount = 1;
  subpass.pColorAttachments = &reference;
  VkSubpassDependency acquired{};
  acquired.srcSubpass = VK_SUBPASS_EXTERNAL;
  acquired.srcStageMask = acquired.dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  acquired.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
  VkRenderPassCreateInfo info{VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO};
  info.attachmentCount = 1;
  info.pAttachments = &color;
  info.subpassCount = 1;
  info.pSubpasses = &subpass;
  info.dependencyCount = 1;
  info.pDependencies = &acquired;
  check(vkCreateRenderPass(device_, &info, nullptr, &pass_), "making the render pass");
}

void Presenter::make_frames() {
  VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 16};
  VkDescriptorPoolCreateInfo descriptors{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  descriptors.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT;
  descriptors.maxSets = 16;
  descriptors.poolSizeCount = 1;
  descriptors.pPoolSizes = &size;
  check(vkCreateDescriptorPool(device_, &descriptors, nullptr, &descriptors_), "making the descriptor pool");
  frames_.resize(2);
  for (Frame& frame : frames_) {
    VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.queueFamilyIndex = family_;
    check(vkCreateCommandPool(device_, &pool, nullptr, &frame.pool), "making a command pool");
    VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    commands.commandPool = frame.pool;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    check(vkAllocateCommandBuffers(device_, &commands, &frame.commands), "making a command buffer");
    VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, VK_FENCE_CREATE_SIGNALED_BIT};
    check(vkCreateFence(device_, &fence, nullptr, &frame.done), "making a fence");
    VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    check(vkCreateSemaphore(device_, &semaphore, nullptr, &frame.acquired), "making a semaphore");
  }
}

void Presenter::drop_swapchain() {
  for (const Target& target : targets_) {
    vkDestroyFramebuffer(device_, target.framebuffer, nullptr);
    vkDestroyImageView(device_, target.view, nullptr);
    vkDestroySemaphore(device_, target.drawn, nullptr);
  }
  targets_.clear();
  vkDestroySwapchainKHR(device_, swapchain_, nullptr);
  swapchain_ = VK_NULL_HANDLE;
}

bool Presenter::make_swapchain() {
  vkDeviceWaitIdle(device_);
  VkSurfaceCapabilitiesKHR surface;
  check(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical_, surface_, &surface),
        "asking for the window's size");
  extent_ = surface.currentExtent;
  if (extent_.width == UINT32_MAX) {
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    extent_ = {uint32_t(width), uint32_t(height)};
  }
  extent_.width = std::clamp(extent_.width, surface.minImageExtent.width, surface.maxImageExtent.width);
  extent_.height = std::clamp(extent_.height, surface.minImageExtent.height, surface.maxImageExtent.height);
  drop_swapchain();
  if (extent_.width == 0 || extent_.height == 0) return false;
  readable_ = surface.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  VkSwapchainCreateInfoKHR info{VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
  info.surface = surface_;
  info.minImageCount = std::max(surface.minImageCount, 2u) + 1;
  if (surface.maxImageCount > 0) info.minImageCount = std::min(info.minImageCount, surface.maxImageCount);
  info.imageFormat = format_.format;
  info.imageColorSpace = format_.colorSpace;
  info.imageExtent = extent_;
  info.imageArrayLayers = 1;
  info.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                    (readable_ ? VkImageUsageFlags(VK_IMAGE_USAGE_TRANSFER_SRC_BIT) : 0u);
  info.preTransform = surface.currentTransform;
  info.compositeAlpha = surface.supportedCompositeAlpha & VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
                            ? VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR
                            : VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR;
  info.presentMode = VK_PRESENT_MODE_FIFO_KHR;
  info.clipped = VK_TRUE;
  check(vkCreateSwapchainKHR(device_, &info, nullptr, &swapchain_), "making the swapchain");
  const auto images = enumerate<VkImage>([&](uint32_t* count, VkImage* out) {
    return vkGetSwapchainImagesKHR(device_, swapchain_, count, out);
  });
  for (VkImage image : images) {
    Target target;
    target.image = image;
    VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
    view.image = image;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = format_.format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    check(vkCreateImageView(device_, &view, nullptr, &target.view), "making an image view");
    VkFramebufferCreateInfo framebuffer{VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO};
    framebuffer.renderPass = pass_;
    framebuffer.attachmentCount = 1;
    framebuffer.pAttachments = &target.view;
    framebuffer.width = extent_.width;
    framebuffer.height = extent_.height;
    framebuffer.layers = 1;
    check(vkCreateFramebuffer(device_, &framebuffer, nullptr, &target.framebuffer), "making a framebuffer");
    VkSemaphoreCreateInfo semaphore{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    check(vkCreateSemaphore(device_, &semaphore, nullptr, &target.drawn), "making a semaphore");
    targets_.push_back(target);
  }
  outdated_ = false;
  return true;
}

uint32_t Presenter::memory_type(uint32_t allowed, VkMemoryPropertyFlags wanted) const {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if (allowed & 1u << i && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  fail_as(ErrorKind::device, "the graphics driver offers no memory that the CPU can read");
}

#if IMGUI_VERSION_NUM >= 19000
// Dear ImGui's backend copies the fonts with its own command buffer, and frees an earlier texture.
void Presenter::upload_fonts() {
  vkDeviceWaitIdle(device_);
  if (!ImGui_ImplVulkan_CreateFontsTexture()) fail_as(ErrorKind::device, "uploading fonts failed");
}
#else
void Presenter::upload_fonts() {
  vkDeviceWaitIdle(device_);
  if (ImGui::GetIO().Fonts->TexID) {
    // This version's backend frees an earlier texture only at shutdown. All descriptor sets of the pool
    // belong to it.
    ImGui_ImplVulkan_Shutdown();
    check(vkResetDescriptorPool(device_, descriptors_, 0), "uploading fonts");
    start_imgui();
  }
  const Frame& frame = frames_[frame_];
  check(vkResetCommandPool(device_, frame.pool, 0), "uploading fonts");
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(frame.commands, &begin), "uploading fonts");
  ImGui_ImplVulkan_CreateFontsTexture(frame.commands);
  check(vkEndCommandBuffer(frame.commands), "uploading fonts");
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &frame.commands;
  check(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "uploading fonts");
  check(vkDeviceWaitIdle(device_), "uploading fonts");
  ImGui_ImplVulkan_DestroyFontUploadObjects();
}
#endif

void Presenter::present(ImDrawData* data, uint32_t background) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  if (width <= 0 || height <= 0) return;
  if (uint32_t(width) != extent_.width || uint32_t(height) != extent_.height) outdated_ = true;
  if (outdated_) {
    const Stopwatch watch;
    const bool made = make_swapchain();
    driver_time_ += watch.spent();
    if (!made) return;
  }

  const Frame& frame = frames_[frame_];
  check(vkWaitForFences(device_, 1, &frame.done, VK_TRUE, UINT64_MAX), "waiting for a frame");
  uint32_t index = 0;
  VkResult acquired =
      vkAcquireNextImageKHR(device_, swapchain_, UINT64_MAX, frame.acquired, VK_NULL_HANDLE, &index);
  if (acquired == VK_ERROR_OUT_OF_DATE_KHR) {
    if (!make_swapchain()) return;
    acquired = vkAcquireNextImageKHR(device_, swapchain_, UINT64_MAX, frame.acquired, VK_NULL_HANDLE, &index);
    if (acquired == VK_ERROR_OUT_OF_DATE_KHR) {
      outdated_ = true;
      return;
    }
  }
  check(acquired, "getting an image to draw into");
  check(vkResetFences(device_, 1, &frame.done), "starting a frame");
  check(vkResetCommandPool(device_, frame.pool, 0), "starting a frame");
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(frame.commands, &begin), "starting a frame");
  textures_->begin_frame(frame.commands);
  const ImVec4 color = ImGui::ColorConvertU32ToFloat4(background);
  VkClearValue clear{};
  std::memcpy(clear.color.float32, &color, sizeof clear.color.float32);
  VkRenderPassBeginInfo pass{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
  pass.renderPass = pass_;
  pass.framebuffer = targets_[index].framebuffer;
  pass.renderArea.extent = extent_;
  pass.clearValueCount = 1;
  pass.pClearValues = &clear;
  vkCmdBeginRenderPass(frame.commands, &pass, VK_SUBPASS_CONTENTS_INLINE);
  textures_->claim(data);
  ImGui_ImplVulkan_RenderDrawData(data, frame.commands);
  vkCmdEndRenderPass(frame.commands);

  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  if (!readable_ && part_) std::exchange(part_, {})->done({}, "this display's frames cannot be read back");
  const bool capturing = part_ || !capture_path_.empty();
  if (capturing) {
    if (!readable_) fail_as(ErrorKind::device, "this display's frames cannot be read back");
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = VkDeviceSize(extent_.width) * extent_.height * 4;
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    check(vkCreateBuffer(device_, &info, nullptr, &buffer), "making a buffer for the picture");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device_, buffer, &needs);
    VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocation.allocationSize = needs.size;
    allocation.memoryTypeIndex = memory_type(
        needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    check(vkAllocateMemory(device_, &allocation, nullptr, &memory), "making room for the picture");
    check(vkBindBufferMemory(device_, buffer, memory, 0), "making room for the picture");
    VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    barrier.oldLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
    barrier.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = targets_[index].image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(frame.commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         0, 0, nullptr, 0, nullptr, 1, &barrier);
    VkBufferImageCopy copy{};
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = {extent_.width, extent_.height, 1};
    vkCmdCopyImageToBuffer(frame.commands, targets_[index].image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           buffer, 1, &copy);
    std::swap(barrier.oldLayout, barrier.newLayout);
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    barrier.dstAccessMask = 0;
    VkMemoryBarrier read{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_TRANSFER_WRITE_BIT,
                         VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(frame.commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 1, &read, 0,
                         nullptr, 1, &barrier);
  }
  check(vkEndCommandBuffer(frame.commands), "ending a frame");

  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.waitSemaphoreCount = 1;
  submit.pWaitSemaphores = &frame.acquired;
  submit.pWaitDstStageMask = &stage;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &frame.commands;
  submit.signalSemaphoreCount = 1;
  submit.pSignalSemaphores = &targets_[index].drawn;
  check(vkQueueSubmit(queue_, 1, &submit, frame.done), "drawing a frame");
  VkPresentInfoKHR show{VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
  show.waitSemaphoreCount = 1;
  show.pWaitSemaphores = &targets_[index].drawn;
  show.swapchainCount = 1;
  show.pSwapchains = &swapchain_;
  show.pImageIndices = &index;
  const VkResult shown = vkQueuePresentKHR(queue_, &show);
  if (shown == VK_ERROR_OUT_OF_DATE_KHR || shown == VK_SUBOPTIMAL_KHR)
    outdated_ = true;
  else
    check(shown, "showing a frame");
  frame_ = (frame_ + 1) % frames_.size();

  if (capturing) {
    check(vkWaitForFences(device_, 1, &frame.done, VK_TRUE, UINT64_MAX), "reading the picture");
    hand_out_capture(memory);
    vkDestroyBuffer(device_, buffer, nullptr);
    vkFreeMemory(device_, memory, nullptr);
  }
}

FramePixels Presenter::read_capture(VkDeviceMemory memory) const {
  void* mapped = nullptr;
  check(vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "reading the picture");
  int left = 0, top = 0, right = int(extent_.width), bottom = int(extent_.height);
  if (part_) {
    left = std::clamp(part_->left, 0, right - 1);
    top = std::clamp(part_->top, 0, bottom - 1);
    right = std::clamp(part_->right, left + 1, right);
    bottom = std::clamp(part_->bottom, top + 1, bottom);
  }
  FramePixels pixels{right - left, bottom - top, {}};
  pixels.rgb.reserve(size_t(pixels.width) * size_t(pixels.height) * 3);
  const auto* raw = static_cast<const uint8_t*>(mapped);
  const bool bgr = format_.format == VK_FORMAT_B8G8R8A8_UNORM || format_.format == VK_FORMAT_B8G8R8A8_SRGB;
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      const uint8_t* from = raw + 4 * (size_t(y) * extent_.width + size_t(x));
      for (size_t c = 0; c < 3; ++c) pixels.rgb.push_back(from[bgr ? 2 - c : c]);
    }
  vkUnmapMemory(device_, memory);
  return pixels;
}

void Presenter::hand_out_capture(VkDeviceMemory memory) {
  FramePixels pixels = read_capture(memory);
  if (const std::optional<Part> part = std::exchange(part_, {}))
    part->done(std::move(pixels), "");
  else
    write_file(std::exchange(capture_path_, {}), png_of(pixels));
}

std::string png_of(const FramePixels& pixels) {
  std::string content;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), size_t(size));
  };
  stbi_write_png_compression_level = 9;
  stbi_write_force_png_filter = 0;  // areas of one colour compress best without a row filter
  stbi_write_png_to_func(append, &content, pixels.width, pixels.height, 3, pixels.rgb.data(),
                         pixels.width * 3);
  return content;
}

}  // namespace lunagrad
