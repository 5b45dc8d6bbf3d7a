#pragma once
// The compute pipelines of a device. They are created in the background from their first use on, so that a
// training step's pipelines are created in parallel while the host continues. Pipelines that previous runs
// used are created earlier. Not thread-safe: the device's lock guards it.
#include <string>
#include <unordered_map>

#include "gpu/vulkan/background_pipelines.h"
#include "runtime/core/work_times.h"

namespace lunagrad::gpu {

class Pipeline {
 public:
  Pipeline(BackgroundPipelines& background, BackgroundPipelines::Job& job, uint32_t kernel)
      : name(kernel), background_(background), job_(job) {}
  bool made() const { return handle_ || background_.made(job_); }
  bool failed() const { return !handle_ && background_.failed(job_); }
  VkPipeline handle();  // waits until it exists; throws Error if it cannot be created
  void destroy(const PipelineMaker& maker) const noexcept { maker.destroy(handle_); }

  const uint32_t name;      // interned (runtime/core/trace.h)
  uint64_t dispatches = 0;  // so far

 private:
  BackgroundPipelines& background_;
  BackgroundPipelines::Job& job_;
  VkPipeline handle_ = VK_NULL_HANDLE;
};

// "matmul f32 128x128x8": the shader and its variant.
std::string kernel_name(const ShaderCode&, Constants);

class Pipelines {
 public:
  explicit Pipelines(VulkanContext&);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;

  VkPipelineLayout layout() const { return maker_.layout(); }
  Pipeline& get(const ShaderCode&, Constants);  // lives as long as this object
  std::vector<KernelUse> kernels() const;       // dispatched kernels, sorted by name
  // Ends the background threads, when the device is lost or closed.
  void come_to_rest() noexcept;
  void finish_background() { background_.finish(); }  // waits until no background work is left
  int made_before_use() const { return made_before_use_; }

 private:
  struct Wanted {
    const ShaderCode& code;
    Constants constants;
  };
  // Heterogeneous lookup: finding a pipeline allocates nothing.
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Wanted&) const;
    size_t operator()(const PipelineKey& key) const { return (*this)(Wanted{key.code, key.constants}); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const PipelineKey& a, const PipelineKey& b) const { return a == b; }
    bool operator()(const Wanted& a, const PipelineKey& b) const;
    bool operator()(const PipelineKey& a, const Wanted& b) const { return (*this)(b, a); }
  };

  PipelineMaker maker_;
  DeviceFile file_;
  BackgroundPipelines background_;
  std::unordered_map<PipelineKey, Pipeline, Hash, Equal> used_;
  std::vector<PipelineKey> order_;  // keys in order of first use
  int made_before_use_ = 0;
};

}  // namespace lunagrad::gpu
