#pragma once
// Creates pipelines on a few background threads: first those that were requested, in order of the requests,
// then those that are expected to be. Functions may be called by any thread, the destructor by one.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/pipeline_maker.h"

namespace lunagrad::gpu {

class BackgroundPipelines {
 public:
  using Make = std::function<VkPipeline(const PipelineKey&)>;
  BackgroundPipelines(std::vector<PipelineKey> expected, int threads, Make);
  ~BackgroundPipelines();  // pipelines that nobody took leak; call stop() before
  BackgroundPipelines(const BackgroundPipelines&) = delete;

  class Job;  // lives as long as this object
  Job& ask(const PipelineKey&);
  bool made(const Job&);    // ready, and not taken yet
  bool failed(const Job&);  // a thread could not create it
  // Hands the pipeline to the caller, who destroys it. Waits if a thread is creating it. Creates it here if
  // none has begun, or if that failed; throws what `Make` throws.
  VkPipeline take(Job&);
  void finish();  // waits until no job is left
  // Ends the threads after the pipelines that they are creating. The caller owns the pipelines that nobody
  // took.
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
  size_t expected_ = 0;   // the first jobs are the expected ones
  size_t looked_at_ = 0;  // the first of them that no thread has looked at
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
