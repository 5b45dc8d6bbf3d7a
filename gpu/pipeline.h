#pragma once
// The compute pipelines of a device: made at first use, or before, in the background, when earlier runs used
// them. Not thread-safe: the device's lock guards it.
#include <unordered_map>

#include "gpu/early_pipelines.h"

namespace lunagrad::gpu {

class Pipelines {
 public:
  explicit Pipelines(VulkanContext&);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;

  VkPipelineLayout layout() const { return maker_.layout(); }
  VkPipeline get(const ShaderCode&, Constants);
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
  std::unordered_map<PipelineKey, VkPipeline, Hash> made_;
  std::vector<PipelineKey> used_;  // in the order of first use
  int made_early_ = 0;
};

}  // namespace lunagrad::gpu
