#pragma once
// Creates compute pipelines from SPIR-V: from the shaders that the build embeds, or from a script's own
// kernel. All have one pipeline layout: push constants that begin with the address of the dispatch's
// arguments. The driver's pipeline cache is loaded from the device's file in the constructor and saved in the
// destructor. Several threads may call make() at the same time. Functions throw an Error of kind device when
// Vulkan fails.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/vulkan/context.h"
#include "gpu/vulkan/device_file.h"

namespace lunagrad::gpu {

// Values of a module's specialization constants, in ascending order of their ids.
using Constants = std::span<const uint32_t>;

// One SPIR-V module. Its memory lives as long as the process.
struct ShaderCode {
  std::string_view name;    // the file's name, without the extension
  std::string_view stored;  // the bytes of its words; deflated (RFC 1950) where `inflated` is not 0
  size_t inflated = 0;      // bytes of its words
  std::span<const uint32_t> ids = {};  // ids of its specialization constants (shaders/constants.h)
  bool bfloat = false;                 // its cooperative matrices multiply bfloat16, not f16
  // Describes the variant with these constants, for people. Null: the values are listed.
  std::string (*variant)(const ShaderCode&, Constants) = nullptr;

  bool is(const ShaderCode& other) const {
    return stored.data() == other.stored.data() && bfloat == other.bfloat;
  }
};
ShaderCode shader_code(std::string_view name, std::span<const uint32_t> words);  // reads words where they are
std::vector<uint32_t> words_of(const ShaderCode&);
std::span<const ShaderCode> all_shaders();                 // written by the build, sorted by name
const ShaderCode* embedded_shader(std::string_view name);  // null if there is none
const ShaderCode& find_shader(std::string_view name);      // Error of kind device if there is none

// Most bytes of push constants that a shader may have after the address of its arguments.
inline constexpr size_t kPushConstantBytes = 64;

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
  VkPipeline make(const ShaderCode&, Constants) const;  // the caller destroys it
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
