#pragma once
// The Vulkan side of textures: images, a pipeline that samples them, and the commands in a frame's draw data
// that show them. Dear ImGui 1.86's backend draws everything with the font's image, so commands that show a
// texture become callbacks, which draw the same triangles from the backend's own buffers. Owned by the
// Presenter; drawing thread only.
#include <imgui.h>
#include <vulkan/vulkan.h>

#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace lunagrad {

struct TextureImage {
  VkImage image = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
  VkDescriptorPool pool = VK_NULL_HANDLE;  // pool of its only descriptor set
  VkDescriptorSet descriptor = VK_NULL_HANDLE;
};

// One texture, shared by its owner and all_textures().
struct TextureEntry {
  int width = 0, height = 0;
  std::vector<uint32_t> pixels;  // pixels that are not uploaded yet; empty after the upload
  TextureImage on_device;
};

// All textures, whether or not a store has uploaded them.
std::vector<std::shared_ptr<TextureEntry>>& all_textures();

int& texture_stores();  // the number of stores

class TextureStore {
 public:
  using MemoryType = std::function<uint32_t(uint32_t allowed, VkMemoryPropertyFlags)>;
  TextureStore(VkDevice, VkRenderPass, MemoryType);
  ~TextureStore();  // the device must be idle
  TextureStore(const TextureStore&) = delete;

  // Once a frame, outside of a render pass: uploads new pixels, and frees objects that no frame in flight
  // uses.
  void begin_frame(VkCommandBuffer);
  // Call before the backend records the draw data into the same command buffer.
  void claim(ImDrawData*);

 private:
  struct Staging {
    VkBuffer buffer;
    VkDeviceMemory memory;
  };
  struct Retired {
    uint64_t frame;
    TextureImage image;
    Staging staging;
  };
  struct Draw {
    const TextureStore* store;
    VkDescriptorSet descriptor;
    VkRect2D scissor;
    float scale[2], offset[2];
    uint32_t count, first;
    int32_t vertex;
  };
  static void draw(const ImDrawList*, const ImDrawCmd*);
  void make_pipeline();
  void upload(TextureEntry&);
  void destroy(const TextureImage&);
  void destroy(const Staging&);
  VkDeviceMemory allocate(const VkMemoryRequirements&, VkMemoryPropertyFlags);

  VkDevice device_;
  VkRenderPass pass_;
  MemoryType memory_type_;
  VkSampler sampler_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;  // made with the first texture
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  uint64_t frame_ = 0;
  std::vector<Retired> retired_;
  std::deque<Draw> draws_;  // draws of the frame that is being recorded
};

}  // namespace lunagrad
