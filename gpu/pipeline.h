#pragma once
// Compute pipelines, made at first use from the SPIR-V that the build embeds. All share one layout: a push
// constant that holds the address of the dispatch's arguments. Not thread-safe: the device's lock guards it.
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gpu/context.h"

namespace lunagrad::gpu {

// One module, named as its file in gpu/shaders without the ending.
struct ShaderCode {
  std::string_view name;
  std::span<const uint32_t> words;
  bool bfloat = false;  // what its cooperative matrices multiply is bfloat16, not f16
};
std::span<const ShaderCode> all_shaders();             // written by the build, by name
const ShaderCode& find_shader(std::string_view name);  // Error of kind device when there is none

// Scalars that a shader may have in its push constants behind the address of its arguments.
inline constexpr size_t kHotBytes = 64;

// Values of the specialization constants 0, 1, ….
using Constants = std::span<const uint32_t>;

class Pipelines {
 public:
  explicit Pipelines(VulkanContext&);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;

  VkPipelineLayout layout() const { return layout_; }
  VkPipeline get(const ShaderCode&, Constants);

 private:
  struct Key {
    const ShaderCode* code;
    std::vector<uint32_t> constants;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key&) const;
  };
  VkPipeline make(const ShaderCode&, Constants);
  void destroy() noexcept;

  VulkanContext& context_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  bool keeps_nan_, keeps_denormals_;  // what the device promises of f32
  std::unordered_map<Key, VkPipeline, Hash> made_;
};

}  // namespace lunagrad::gpu
