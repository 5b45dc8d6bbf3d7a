#include "gpu/vulkan/background_pipelines.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "runtime/system/threads.h"

namespace lunagrad::gpu {

BackgroundPipelines::BackgroundPipelines(std::vector<PipelineKey> expected, int threads, Make make)
    : make_(std::move(make)), most_threads_(threads), expected_(expected.size()) {
  for (PipelineKey& key : expected) jobs_.emplace_back(std::move(key));
  if (expected_ > 0) start_threads();
}

BackgroundPipelines::~BackgroundPipelines() { stop(); }

void BackgroundPipelines::start_threads() {
  const BlockSignals blocked;
  try {
    while (int(threads_.size()) < most_threads_) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // With fewer threads, or none, take() creates the remaining pipelines.
  }
}

BackgroundPipelines::Job* BackgroundPipelines::next() {
  while (!asked_.empty()) {
    Job* const job = asked_.front();
    asked_.pop_front();
    if (job->state_ == Job::State::waiting) return job;
  }
  while (looked_at_ < expected_) {
    Job& job = jobs_[looked_at_++];
    if (job.state_ == Job::State::waiting) return &job;
  }
  return nullptr;
}

void BackgroundPipelines::work() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    Job* const job = next();
    if (!job) {
      new_work_.wait(lock);
      continue;
    }
    job->state_ = Job::State::under_way;
    lock.unlock();
    VkPipeline made = VK_NULL_HANDLE;
    try {
      made = make_(job->key_);
    } catch (const std::exception&) {
      // take() will try again and throw to its caller.
    }
    lock.lock();
    job->pipeline_ = made;
    job->state_ = made ? Job::State::made : Job::State::failed;
    changed_.notify_all();
  }
}

BackgroundPipelines::Job& BackgroundPipelines::ask(const PipelineKey& key) {
  const std::lock_guard lock(mutex_);
  const auto end = jobs_.begin() + long(expected_);
  const auto found = std::find_if(jobs_.begin(), end, [&](const Job& job) { return job.key_ == key; });
  Job& job = found != end ? *found : jobs_.emplace_back(key);
  if (job.state_ == Job::State::waiting) {
    asked_.push_back(&job);
    if (threads_.empty() && !ending_) start_threads();
    new_work_.notify_one();
  }
  return job;
}

bool BackgroundPipelines::made(const Job& job) {
  const std::lock_guard lock(mutex_);
  return job.state_ == Job::State::made;
}

bool BackgroundPipelines::failed(const Job& job) {
  const std::lock_guard lock(mutex_);
  return job.state_ == Job::State::failed;
}

VkPipeline BackgroundPipelines::take(Job& job) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return job.state_ != Job::State::under_way; });
    const bool made = job.state_ == Job::State::made;
    job.state_ = Job::State::taken;
    if (made) return std::exchange(job.pipeline_, VkPipeline(VK_NULL_HANDLE));
  }
  return make_(job.key_);
}

void BackgroundPipelines::finish() {
  std::unique_lock lock(mutex_);
  const auto open = [](const Job& job) {
    return job.state_ == Job::State::waiting || job.state_ == Job::State::under_way;
  };
  changed_.wait(lock, [&] { return threads_.empty() || std::none_of(jobs_.begin(), jobs_.end(), open); });
}

std::vector<VkPipeline> BackgroundPipelines::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  new_work_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  std::vector<VkPipeline> left;
  for (Job& job : jobs_)
    if (job.pipeline_) left.push_back(std::exchange(job.pipeline_, VkPipeline(VK_NULL_HANDLE)));
  return left;
}

}  // namespace lunagrad::gpu
