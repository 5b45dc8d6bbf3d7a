#pragma once
// A window with a Vulkan device that it shares with Lunagrad. One thread. Functions end the program with a
// message when Vulkan or Lunagrad fails.
#include <lunagrad.h>

#define GLFW_INCLUDE_VULKAN
#include <GLFW/glfw3.h>

#include <vector>

void require(lg_code code);  // LG_OK, else prints the message and ends the program

class Window {
 public:
  // Paints pictures of `side` x `side` pixels of 4 bytes, enlarged to the window's size.
  Window(const char* title, int size, uint32_t side);
  ~Window();
  Window(const Window&) = delete;

  lg_vulkan vulkan() const;
  bool wants_to_close();
  // Paints the buffer when its elements are there. Returns the value of semaphore() when it has been read.
  uint64_t paint(const lg_vulkan_buffer& pixels);
  uint64_t semaphore() const;

 private:
  void open_device();
  void make_swapchain();
  void make_picture();
  void record(VkImage target, const lg_vulkan_buffer& pixels);

  const uint32_t side_;
  GLFWwindow* window_ = nullptr;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkSurfaceKHR surface_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  VkExtent2D extent_{};
  std::vector<VkImage> images_;
  VkImage picture_ = VK_NULL_HANDLE;  // of side x side pixels, which a copy fills and a blit enlarges
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkSemaphore acquired_ = VK_NULL_HANDLE, painted_ = VK_NULL_HANDLE;  // binary
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  uint64_t frames_ = 0;
};
