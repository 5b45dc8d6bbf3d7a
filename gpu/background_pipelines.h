#pragma once
// Pipelines that are made in the background by a few threads: those that somebody asked for, in the order of
// the asking, and when there are none, those that somebody may ask for, in the order given. Any thread, but
// for the destructor.
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
  ~BackgroundPipelines();  // hand over with stop() before
  BackgroundPipelines(const BackgroundPipelines&) = delete;

  class Job;  // lives as long as this
  Job& ask(const PipelineKey&);
  bool made(const Job&);  // and neither taken nor failed
  // The caller's from now on. Waits for one that is being made; makes one that nobody began or that could not
  // be made, and throws what that throws.
  VkPipeline take(Job&);
  void finish();  // waits until nobody has anything left to make
  // Ends the threads, behind the pipelines that they are at, and hands over what nobody took.
  std::vector<VkPipeline> stop() noexcept;

 private:
  void start_threads();
  void work();
  Job* next();

  const Make make_;
  const int most_threads_;
  std::mutex mutex_;
  std::condition_variable new_work_, changed_;  // changed_: a job is no longer under way
  std::deque<Job> jobs_;
  std::deque<Job*> asked_;
  size_t expected_ = 0,
         looked_at_ = 0;  // the first jobs are the expected ones; those before the second are begun
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
