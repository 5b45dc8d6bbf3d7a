#include "ui/window/texture_store.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "runtime/core/error.h"
#include "texture.frag.h"
#include "texture.vert.h"
#include "ui/window/vulkan_result.h"

namespace lunagrad {
namespace {

constexpr uint64_t kFramesInFlight = 3;

VkImageMemoryBarrier becomes(VkImage image, VkImageLayout before, VkImageLayout after, VkAccessFlags wrote,
                             VkAccessFlags reads) {
  VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = wrote;
  barrier.dstAccessMask = reads;
  barrier.oldLayout = before;
  barrier.newLayout = after;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  return barrier;
}

}  // namespace

TextureStore::TextureStore(VkDevice device, VkRenderPass pass, MemoryType memory_type)
    : device_(device), pass_(pass), memory_type_(std::move(memory_type)) {
  ++texture_stores();
}

TextureStore::~TextureStore() {
  --texture_stores();
  for (const Retired& old : retired_) {
    destroy(old.image);
    destroy(old.staging);
  }
  for (const auto& entry : all_textures()) destroy(std::exchange(entry->on_device, {}));
  vkDestroyPipeline(device_, pipeline_, nullptr);
  vkDestroyPipelineLayout(device_, layout_, nullptr);
  vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
  vkDestroySampler(device_, sampler_, nullptr);
}

void TextureStore::destroy(const TextureImage& image) {
  vkDestroyDescriptorPool(device_, image.pool, nullptr);
  vkDestroyImageView(device_, image.view, nullptr);
  vkDestroyImage(device_, image.image, nullptr);
  vkFreeMemory(device_, image.memory, nullptr);
}

void TextureStore::destroy(const Staging& staging) {
  vkDestroyBuffer(device_, staging.buffer, nullptr);
  vkFreeMemory(device_, staging.memory, nullptr);
}

VkDeviceMemory TextureStore::allocate(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) {
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = needs.size;
  info.memoryTypeIndex = memory_type_(needs.memoryTypeBits, wanted);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  check(vkAllocateMemory(device_, &info, nullptr, &memory), "making room for a texture");
  return memory;
}

// The same as Dear ImGui's own pipeline, except that the sampler takes the nearest pixel.
void TextureStore::make_pipeline() {
  VkSamplerCreateInfo sampler{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  sampler.addressModeU = sampler.addressModeV = sampler.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  check(vkCreateSampler(device_, &sampler, nullptr, &sampler_), "making a sampler");
  VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1,
                                       VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  sets.bindingCount = 1;
  sets.pBindings = &binding;
  check(vkCreateDescriptorSetLayout(device_, &sets, nullptr, &set_layout_), "laying out textures");
  const VkPushConstantRange range{VK_SHADER_STAGE_VERTEX_BIT, 0, 4 * sizeof(float)};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  check(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "laying out textures");

  VkShaderModule modules[2] = {};
  VkPipelineShaderStageCreateInfo stages[2] = {};
  const std::pair<const uint32_t*, size_t> codes[2] = {{texture_vert_words, sizeof texture_vert_words},
                                                       {texture_frag_words, sizeof texture_frag_words}};
  for (int i = 0; i < 2; ++i) {
    VkShaderModuleCreateInfo info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.pCode = codes[i].first;
    info.codeSize = codes[i].second;
    check(vkCreateShaderModule(device_, &info, nullptr, &modules[i]), "making a shader of textures");
    stages[i].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stages[i].stage = i == 0 ? VK_SHADER_STAGE_VERTEX_BIT : VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[i].module = modules[i];
    stages[i].pName = "main";
  }
  const VkVertexInputBindingDescription vertices{0, sizeof(ImDrawVert), VK_VERTEX_INPUT_RATE_VERTEX};
  const VkVertexInputAttributeDescription attributes[] = {
      {0, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(ImDrawVert, pos)},
      {1, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(ImDrawVert, uv)},
      {2, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(ImDrawVert, col)}};
  VkPipelineVertexInputStateCreateInfo input{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  input.vertexBindingDescriptionCount = 1;
  input.pVertexBindingDescriptions = &vertices;
  input.vertexAttributeDescriptionCount = 3;
  input.pVertexAttributeDescriptions = attributes;
  VkPipelineInputAssemblyStateCreateInfo assembly{
      VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
  VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  viewport.viewportCount = viewport.scissorCount = 1;
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  raster.lineWidth = 1;
  VkPipelineMultisampleStateCreateInfo samples{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
  VkPipelineColorBlendAttachmentState over{};
  over.blendEnable = VK_TRUE;
  over.srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA;
  over.dstColorBlendFactor = over.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
  over.srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
  over.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT |
                        VK_COLOR_COMPONENT_A_BIT;
  VkPipelineColorBlendStateCreateInfo blend{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  blend.attachmentCount = 1;
  blend.pAttachments = &over;
  const VkDynamicState changing[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  dynamic.dynamicStateCount = 2;
  dynamic.pDynamicStates = changing;
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO};
  info.stageCount = 2;
  info.pStages = stages;
  info.pVertexInputState = &input;
  info.pInputAssemblyState = &assembly;
  info.pViewportState = &viewport;
  info.pRasterizationState = &raster;
  info.pMultisampleState = &samples;
  info.pColorBlendState = &blend;
  info.pDynamicState = &dynamic;
  info.layout = layout_;
  info.renderPass = pass_;
  const VkResult made = vkCreateGraphicsPipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_);
  for (VkShaderModule module : modules) vkDestroyShaderModule(device_, module, nullptr);
  check(made, "making the pipeline of textures");
}

void TextureStore::begin_frame(VkCommandBuffer commands) {
  commands_ = commands;
  ++frame_;
  auto& all = all_textures();
  for (const auto& entry : all) {
    if (entry.use_count() == 1) {
      retired_.push_back({frame_, std::exchange(entry->on_device, {}), {}});
    } else if (!entry->pixels.empty()) {
      upload(*entry);
    }
  }
  std::erase_if(all, [](const auto& entry) { return entry.use_count() == 1; });
  std::erase_if(retired_, [&](const Retired& old) {
    if (frame_ - old.frame < kFramesInFlight) return false;
    destroy(old.image);
    destroy(old.staging);
    return true;
  });
}

void TextureStore::upload(TextureEntry& entry) {
  if (!pipeline_) make_pipeline();
  // If a call fails, nothing leaks: each object is in the list as soon as it exists.
  Retired& staged = retired_.emplace_back(Retired{frame_, std::exchange(entry.on_device, {}), {}});
  const VkDeviceSize bytes = entry.pixels.size() * sizeof(uint32_t);
  VkBufferCreateInfo buffer{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  buffer.size = bytes;
  buffer.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
  check(vkCreateBuffer(device_, &buffer, nullptr, &staged.staging.buffer), "making a buffer for a texture");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, staged.staging.buffer, &needs);
  staged.staging.memory =
      allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  check(vkBindBufferMemory(device_, staged.staging.buffer, staged.staging.memory, 0), "making a texture");
  void* mapped = nullptr;
  check(vkMapMemory(device_, staged.staging.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "filling a texture");
  std::memcpy(mapped, entry.pixels.data(), bytes);
  vkUnmapMemory(device_, staged.staging.memory);

  TextureImage& made = entry.on_device;
  VkImageCreateInfo image{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  image.imageType = VK_IMAGE_TYPE_2D;
  image.format = VK_FORMAT_R8G8B8A8_UNORM;
  image.extent = {uint32_t(entry.width), uint32_t(entry.height), 1};
  image.mipLevels = image.arrayLayers = 1;
  image.samples = VK_SAMPLE_COUNT_1_BIT;
  image.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  check(vkCreateImage(device_, &image, nullptr, &made.image), "making a texture");
  vkGetImageMemoryRequirements(device_, made.image, &needs);
  made.memory = allocate(needs, 0);
  check(vkBindImageMemory(device_, made.image, made.memory, 0), "making a texture");
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = made.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = image.format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  check(vkCreateImageView(device_, &view, nullptr, &made.view), "making a texture");
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1};
  VkDescriptorPoolCreateInfo pool{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pool.maxSets = pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  check(vkCreateDescriptorPool(device_, &pool, nullptr, &made.pool), "describing a texture");
  VkDescriptorSetAllocateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  set.descriptorPool = made.pool;
  set.descriptorSetCount = 1;
  set.pSetLayouts = &set_layout_;
  check(vkAllocateDescriptorSets(device_, &set, &made.descriptor), "describing a texture");
  const VkDescriptorImageInfo sampled{sampler_, made.view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = made.descriptor;
  write.descriptorCount = 1;
  write.descriptorType = size.type;
  write.pImageInfo = &sampled;
  vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);

  const VkImageMemoryBarrier before =
      becomes(made.image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0,
              VK_ACCESS_TRANSFER_WRITE_BIT);
  vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
                       nullptr, 0, nullptr, 1, &before);
  VkBufferImageCopy copy{};
  copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  copy.imageExtent = image.extent;
  vkCmdCopyBufferToImage(commands_, staged.staging.buffer, made.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                         1, &copy);
  const VkImageMemoryBarrier after =
      becomes(made.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
              VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT);
  vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 0,
                       nullptr, 0, nullptr, 1, &after);
  entry.pixels = {};
}

void TextureStore::claim(ImDrawData* data) {
  draws_.clear();
  int vertex = 0, index = 0;
  const ImVec2 size{data->DisplaySize.x * data->FramebufferScale.x,
                    data->DisplaySize.y * data->FramebufferScale.y};
  for (int l = 0; l < data->CmdListsCount; ++l) {
    ImDrawList* list = data->CmdLists[l];
    ImVector<ImDrawCmd> commands;
    for (const ImDrawCmd& command : list->CmdBuffer) {
      const TextureEntry* entry = nullptr;
      if (!command.UserCallback)
        for (const auto& candidate : all_textures())
          if (candidate.get() == command.GetTexID()) entry = candidate.get();
      commands.push_back(command);
      if (!entry) continue;
      const auto pixel = [](float at, float origin, float scale, float most) {
        return int32_t(std::clamp((at - origin) * scale, 0.0f, most));
      };
      const ImVec4& clip = command.ClipRect;
      const int32_t left = pixel(clip.x, data->DisplayPos.x, data->FramebufferScale.x, size.x);
      const int32_t top = pixel(clip.y, data->DisplayPos.y, data->FramebufferScale.y, size.y);
      const int32_t right = pixel(clip.z, data->DisplayPos.x, data->FramebufferScale.x, size.x);
      const int32_t bottom = pixel(clip.w, data->DisplayPos.y, data->FramebufferScale.y, size.y);
      Draw& draw = draws_.emplace_back();
      draw.store = this;
      draw.descriptor = entry->on_device.descriptor;
      draw.scissor = {{left, top},
                      {uint32_t(std::max(right - left, 0)), uint32_t(std::max(bottom - top, 0))}};
      draw.scale[0] = 2 / data->DisplaySize.x;
      draw.scale[1] = 2 / data->DisplaySize.y;
      draw.offset[0] = -1 - data->DisplayPos.x * draw.scale[0];
      draw.offset[1] = -1 - data->DisplayPos.y * draw.scale[1];
      draw.count = command.ElemCount;
      draw.first = command.IdxOffset + uint32_t(index);
      draw.vertex = int32_t(command.VtxOffset) + vertex;
      commands.back().UserCallback = &TextureStore::draw;
      commands.back().UserCallbackData = &draw;
      ImDrawCmd reset;
      reset.ClipRect = command.ClipRect;
      reset.UserCallback = ImDrawCallback_ResetRenderState;
      commands.push_back(reset);
    }
    if (commands.Size != list->CmdBuffer.Size) list->CmdBuffer.swap(commands);
    vertex += list->VtxBuffer.Size;
    index += list->IdxBuffer.Size;
  }
}

void TextureStore::draw(const ImDrawList*, const ImDrawCmd* command) {
  const Draw& draw = *static_cast<const Draw*>(command->UserCallbackData);
  if (!draw.descriptor || draw.scissor.extent.width == 0 || draw.scissor.extent.height == 0) return;
  const TextureStore& store = *draw.store;
  const VkCommandBuffer commands = store.commands_;
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, store.pipeline_);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, store.layout_, 0, 1, &draw.descriptor, 0,
                          nullptr);
  vkCmdPushConstants(commands, store.layout_, VK_SHADER_STAGE_VERTEX_BIT, 0, 2 * sizeof(float), draw.scale);
  vkCmdPushConstants(commands, store.layout_, VK_SHADER_STAGE_VERTEX_BIT, 2 * sizeof(float),
                     2 * sizeof(float), draw.offset);
  vkCmdSetScissor(commands, 0, 1, &draw.scissor);
  vkCmdDrawIndexed(commands, draw.count, 1, draw.first, draw.vertex, 0);
}

}  // namespace lunagrad
