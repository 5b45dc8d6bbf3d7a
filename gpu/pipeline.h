#pragma once
// The compute pipelines of a device: made at first use, or before, in the background, when earlier runs used
// them. Not thread-safe: the device's lock guards it.
#include <string>
#include <unordered_map>

#include "gpu/early_pipelines.h"
#include "runtime/work_times.h"

namespace lunagrad::gpu {

struct Pipeline {
  VkPipeline handle = VK_NULL_HANDLE;
  uint32_t name = 0;        // interned: made once, so that a dispatch only hands on a number
  uint64_t dispatches = 0;  // so far
};

// "matmul f32 128x128x8": the shader and which variant of it.
std::string kernel_name(const ShaderCode&, Constants);

class Pipelines {
 public:
  explicit Pipelines(VulkanContext&);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;

  VkPipelineLayout layout() const { return maker_.layout(); }
  Pipeline& get(const ShaderCode&, Constants);  // lives as long as this
  std::vector<KernelUse> kernels() const;       // that were dispatched, by name
  // Ends what goes on in the background: the device is lost, or the process ends.
  void come_to_rest() noexcept;
  void finish_early() { early_.finish(); }        // waits for it
  int made_early() const { return made_early_; }  // of those that were asked for

 private:
  struct Hash {
    size_t operator()(const PipelineKey&) const;
  };

  PipelineMaker maker_;
  DeviceFile file_;
  EarlyPipelines early_;
  std::unordered_map<PipelineKey, Pipeline, Hash> made_;
  std::vector<PipelineKey> used_;  // in the order of first use
  int made_early_ = 0;
};

}  // namespace lunagrad::gpu
