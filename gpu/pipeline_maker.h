#pragma once
// Makes compute pipelines from the SPIR-V that the build embeds, or a script brings along. All share one
// layout: a push constant that holds the address of the dispatch's arguments. What the driver keeps of them
// is read from the disk at the start and written back at the end. make() may be called by several threads at
// a time.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/context.h"
#include "gpu/device_file.h"

namespace lunagrad::gpu {

// Values of the specialization constants 0, 1, ….
using Constants = std::span<const uint32_t>;

// One module, named as its file in gpu/shaders without the ending.
struct ShaderCode {
  std::string_view name;
  std::span<const uint32_t> words;
  bool bfloat = false;  // what its cooperative matrices multiply is bfloat16, not f16
  // Says which variant the constants make of it, for people; null: the constants stand for themselves.
  std::string (*variant)(const ShaderCode&, Constants) = nullptr;

  // Modules live as long as the process.
  bool is(const ShaderCode& other) const {
    return words.data() == other.words.data() && bfloat == other.bfloat;
  }
};
std::span<const ShaderCode> all_shaders();                 // written by the build, by name
const ShaderCode* embedded_shader(std::string_view name);  // null when there is none
const ShaderCode& find_shader(std::string_view name);      // Error of kind device when there is none

// Scalars that a shader may have in its push constants behind the address of its arguments.
inline constexpr size_t kHotBytes = 64;

struct PipelineKey {
  ShaderCode code;
  std::vector<uint32_t> constants;
  bool operator==(const PipelineKey& other) const {
    return code.is(other.code) && constants == other.constants;
  }
};

class PipelineMaker {
 public:
  explicit PipelineMaker(VulkanContext&);
  ~PipelineMaker();
  PipelineMaker(const PipelineMaker&) = delete;

  VkPipelineLayout layout() const { return layout_; }
  DeviceFile file(std::string_view kind) const { return {kind, properties_}; }
  VkPipeline make(const ShaderCode&, Constants) const;  // the caller's
  void destroy(VkPipeline) const noexcept;

 private:
  void save() const;
  void destroy() noexcept;

  VulkanContext& context_;
  VkPhysicalDeviceProperties properties_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
};

}  // namespace lunagrad::gpu
