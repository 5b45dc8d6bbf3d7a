#pragma once
// Pipelines that are made in the background before somebody asks for them, by one thread, in the order given.
// One that cannot be made is left to who asks for it. Any thread, but for the destructor.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/pipeline_maker.h"

namespace lunagrad::gpu {

class EarlyPipelines {
 public:
  using Make = std::function<VkPipeline(const PipelineKey&)>;
  EarlyPipelines(std::vector<PipelineKey> wanted, Make);
  ~EarlyPipelines();  // hand over with stop() before
  EarlyPipelines(const EarlyPipelines&) = delete;

  // The caller's from now on. Waits for one that is being made; null: the caller has to make it.
  VkPipeline take(const PipelineKey&);
  void finish();  // until all are made
  // Ends the thread, behind the pipeline that it is at, and hands over what nobody took.
  std::vector<VkPipeline> stop() noexcept;

 private:
  enum class State { waiting, under_way, ready, gone };
  struct Entry {
    PipelineKey key;
    State state = State::waiting;
    VkPipeline pipeline = VK_NULL_HANDLE;
  };
  void work();

  const Make make_;
  std::mutex mutex_;
  std::condition_variable changed_;  // an entry is no longer under way
  std::vector<Entry> entries_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace lunagrad::gpu
