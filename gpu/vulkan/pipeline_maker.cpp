#include "gpu/vulkan/pipeline_maker.h"

#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "gpu/vulkan/portable_matrices.h"
#include "runtime/core/error.h"

namespace lunagrad::gpu {
namespace {

constexpr uint32_t kOpExecutionMode = 16;
constexpr uint32_t kDenormPreserve = 4464, kModeDenormPreserve = 4459;
constexpr uint32_t kSignedZeroInfNanPreserve = 4466, kModeSignedZeroInfNanPreserve = 4461;

// Removes the f32 float controls (execution modes and their capabilities) that the device lacks. The first
// word of an instruction holds its length in words and its opcode (SPIR-V specification 2.3).
std::vector<uint32_t> without_controls(std::span<const uint32_t> words, const PhysicalDevice& physical) {
  const auto lacks = [&](uint32_t code, uint32_t nan, uint32_t denormal) {
    return (code == nan && !physical.keeps_nan) || (code == denormal && !physical.keeps_denormals);
  };
  std::vector<uint32_t> kept(words.begin(), words.begin() + 5);
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    const uint32_t opcode = words[at] & 0xffff, length = words[at] >> 16;
    const bool capability =
        opcode == kOpCapability && lacks(words[at + 1], kSignedZeroInfNanPreserve, kDenormPreserve);
    const bool mode = opcode == kOpExecutionMode &&
                      lacks(words[at + 2], kModeSignedZeroInfNanPreserve, kModeDenormPreserve);
    if (!capability && !mode)
      kept.insert(kept.end(), words.begin() + long(at), words.begin() + long(at + length));
  }
  return kept;
}

}  // namespace

ShaderCode shader_code(std::string_view name, std::span<const uint32_t> words) {
  return {name, {reinterpret_cast<const char*>(words.data()), words.size_bytes()}};
}

std::vector<uint32_t> words_of(const ShaderCode& code) {
  const size_t bytes = code.inflated ? code.inflated : code.stored.size();
  std::vector<uint32_t> words(bytes / sizeof(uint32_t));
  if (code.inflated == 0) {
    std::memcpy(words.data(), code.stored.data(), bytes);
  } else {
    uLongf size = bytes;
    const int result = uncompress(reinterpret_cast<Bytef*>(words.data()), &size,
                                  reinterpret_cast<const Bytef*>(code.stored.data()), code.stored.size());
    if (result != Z_OK || size != bytes) fail_as(ErrorKind::memory, "vulkan: no memory to load ", code.name);
  }
  return words;
}

const ShaderCode* embedded_shader(std::string_view name) {
  const auto all = all_shaders();
  const auto found = std::lower_bound(
      all.begin(), all.end(), name, [](const ShaderCode& code, std::string_view n) { return code.name < n; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

const ShaderCode& find_shader(std::string_view name) {
  const ShaderCode* const found = embedded_shader(name);
  if (!found) fail_as(ErrorKind::device, "vulkan: there is no shader called ", name);
  return *found;
}

PipelineMaker::PipelineMaker(VulkanContext& context) : context_(context) {
  vkGetPhysicalDeviceProperties(context.physical.handle, &properties_);
  const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                 sizeof(VkDeviceAddress) + kPushConstantBytes};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &push;
  check(context.vk.vkCreatePipelineLayout(context.device, &layout, nullptr, &layout_),
        "making a pipeline layout");
  const std::vector<std::byte> kept = file("pipelines").load();
  VkPipelineCacheCreateInfo cache{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  cache.initialDataSize = kept.size();
  cache.pInitialData = kept.data();
  const VkResult result = context.vk.vkCreatePipelineCache(context.device, &cache, nullptr, &cache_);
  if (result != VK_SUCCESS) destroy();
  check(result, "making a pipeline cache");
}

PipelineMaker::~PipelineMaker() {
  save();
  destroy();
}

void PipelineMaker::destroy() noexcept {
  context_.vk.vkDestroyPipelineCache(context_.device, cache_, nullptr);
  context_.vk.vkDestroyPipelineLayout(context_.device, layout_, nullptr);
}

void PipelineMaker::destroy(VkPipeline pipeline) const noexcept {
  context_.vk.vkDestroyPipeline(context_.device, pipeline, nullptr);
}

// Saves the driver's pipeline cache for the next start.
void PipelineMaker::save() const {
  const DeviceFile kept = file("pipelines");
  size_t size = 0;
  if (context_.vk.vkGetPipelineCacheData(context_.device, cache_, &size, nullptr) != VK_SUCCESS || size == 0)
    return;
  std::vector<std::byte> data(size);
  if (context_.vk.vkGetPipelineCacheData(context_.device, cache_, &size, data.data()) != VK_SUCCESS) return;
  data.resize(size);
  if (kept.load() != data) kept.save(data);
}

VkPipeline PipelineMaker::make(const ShaderCode& code, Constants constants) const {
  std::vector<uint32_t> words = without_controls(words_of(code), context_.physical);
  if (is_cooperative(words)) words = portable_matrices(words, code.bfloat);
  VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  module_info.codeSize = words.size() * sizeof(uint32_t);
  module_info.pCode = words.data();
  VkShaderModule module;
  check(context_.vk.vkCreateShaderModule(context_.device, &module_info, nullptr, &module),
        "loading a shader");
  std::vector<VkSpecializationMapEntry> entries;
  assert(constants.size() <= code.ids.size());
  for (uint32_t i = 0; i < constants.size(); ++i) entries.push_back({code.ids[i], i * 4, 4});
  const VkSpecializationInfo specialization{uint32_t(entries.size()), entries.data(), constants.size_bytes(),
                                            constants.data()};
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization;
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result =
      context_.vk.vkCreateComputePipelines(context_.device, cache_, 1, &info, nullptr, &pipeline);
  context_.vk.vkDestroyShaderModule(context_.device, module, nullptr);
  check(result, "making a pipeline");
  return pipeline;
}

}  // namespace lunagrad::gpu
