#pragma once
// Creates pipelines on a few background threads: first the requested ones, in order of the requests, then the
// expected ones. Any thread may call the functions; one thread runs the destructor.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/vulkan/pipeline_maker.h"

namespace lunagrad::gpu {

class BackgroundPipelines {
 public:
  using Make = std::function<VkPipeline(const PipelineKey&)>;
  BackgroundPipelines(std::vector<PipelineKey> expected, int threads, Make);
  ~BackgroundPipelines();  // leaks pipelines that were not taken; call stop() before
  BackgroundPipelines(const BackgroundPipelines&) = delete;

  class Job;  // lives as long as this object
  Job& ask(const PipelineKey&);
  bool made(const Job&);    // ready, and not taken yet
  bool failed(const Job&);  // a thread could not create it
  // Hands the pipeline to the caller, who destroys it. Waits if a thread is creating it. Creates it here if
  // no thread has begun to, or if a thread failed; throws what `Make` throws.
  VkPipeline take(Job&);
  void finish();  // waits until no job is left
  // Ends the threads when they have created their current pipelines. Returns the pipelines that were not
  // taken; the caller owns them.
  std::vector<VkPipeline> stop() noexcept;

 private:
  void start_threads();
  void work();
  Job* next();

  const Make make_;
  const int most_threads_;
  std::mutex mutex_;
  std::condition_variable new_work_, changed_;  // changed_: a job has ended
  std::deque<Job> jobs_;
  std::deque<Job*> asked_;
  size_t expected_ = 0;   // number of expected pipelines: the first jobs
  size_t looked_at_ = 0;  // the first expected job that no thread has looked at
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

class BackgroundPipelines::Job {
 public:
  explicit Job(PipelineKey key) : key_(std::move(key)) {}

 private:
  friend BackgroundPipelines;
  enum class State { waiting, under_way, made, failed, taken };
  const PipelineKey key_;
  State state_ = State::waiting;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
};

}  // namespace lunagrad::gpu
