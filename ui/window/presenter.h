#pragma once
// Presents frames with Vulkan. Has its own instance, device and swapchain, separate from any compute device,
// so that the window survives the loss of a compute device. Records Dear ImGui's draw data, presents it, and
// reads a frame back as a picture. Drawing thread only.
#include <vulkan/vulkan.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ui/base/stopwatch.h"

struct GLFWwindow;
struct ImDrawData;

namespace lunagrad {

class TextureStore;

// Pixels of a frame: red, green, blue.
struct FramePixels {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;
};
// The content of a PNG file; any thread.
std::string png_of(const FramePixels&);

class Presenter {
 public:
  // Throws Error (kind device), which says what is missing. With `validation` the Khronos layer is loaded;
  // its messages go to stderr and are counted.
  Presenter(GLFWwindow*, bool validation);
  ~Presenter();
  Presenter(const Presenter&) = delete;

  void upload_fonts();  // call after each change of the font atlas
  // Draws and presents. If the swapchain no longer fits, makes a new one and draws the frame into it.
  void present(ImDrawData*, uint32_t background);
  // Also saves the next frame as a PNG file. present() throws Error (kind file) if the file cannot be
  // written.
  void capture(const std::string& path) {
    capture_path_ = path;
    part_.reset();
  }
  // `done` gets a part of the next frame, in the frame's pixels, or an error text.
  using PartDone = std::function<void(FramePixels, const std::string& problem)>;
  void capture_part(int left, int top, int right, int bottom, PartDone done) {
    capture_path_.clear();
    part_ = Part{left, top, right, bottom, std::move(done)};
  }

  bool captures() const { return !capture_path_.empty(); }

  // The time spent so far on creating instance, device and swapchains.
  const Spent& driver_time() const { return driver_time_; }
  int validation_messages() const;
  bool software() const { return software_; }  // the driver draws on the CPU
  const std::string& device_name() const { return device_name_; }

 private:
  struct Target {
    VkImage image = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    VkSemaphore drawn =
        VK_NULL_HANDLE;  // one per image: presentation may still wait on it when the next image is drawn
  };
  struct Frame {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkFence done = VK_NULL_HANDLE;
    VkSemaphore acquired = VK_NULL_HANDLE;
  };

  void make_instance(bool validation);
  void make_device();
  void make_render_pass();
  void make_frames();
  void start_imgui();
  void release();
  bool make_swapchain();  // returns false when the window has no area
  void drop_swapchain();
  FramePixels read_capture(VkDeviceMemory) const;
  void hand_out_capture(VkDeviceMemory);
  uint32_t memory_type(uint32_t allowed, VkMemoryPropertyFlags) const;

  GLFWwindow* window_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::unique_ptr<int> messages_;
  VkSurfaceKHR surface_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
  VkRenderPass pass_ = VK_NULL_HANDLE;
  std::unique_ptr<TextureStore> textures_;
  VkSurfaceFormatKHR format_{};
  VkSwapchainKHR swapchain_ = VK_NULL_HANDLE;
  VkExtent2D extent_{};
  bool readable_ = false;  // frames can be copied from the swapchain
  std::vector<Target> targets_;
  std::vector<Frame> frames_;
  size_t frame_ = 0;
  bool outdated_ = true;
  std::string capture_path_;
  struct Part {
    int left, top, right, bottom;
    PartDone done;
  };
  std::optional<Part> part_;
  std::string device_name_;
  bool software_ = false;
  Spent driver_time_;
};

}  // namespace lunagrad
