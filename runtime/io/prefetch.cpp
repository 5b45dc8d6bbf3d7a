#include "runtime/io/prefetch.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "runtime/core/context.h"
#include "runtime/core/work_times.h"
#include "runtime/system/threads.h"

namespace lunagrad {
Prefetch::Prefetch(std::shared_ptr<const BatchPlan> plan, std::vector<int64_t> order, PrefetchOptions options,
                   BatchDraw draw)
    : plan_(std::move(plan)),
      order_(std::move(order)),
      options_(options),
      draw_(draw),
      owner_(&context()),
      submitted_(options.first) {
  for (const BatchColumn& column : plan_->columns)
    versions_.push_back(column.source.defined() ? column.source.storage().version : 0);
  while (int64_t(jobs_.size()) < std::max(options_.ahead, options_.workers) && submitted_ < options_.batches)
    submit();
  const BlockSignals blocked;
  for (int i = 0; i < options_.workers && i < int(jobs_.size()); ++i) {
    try {
      workers_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error& error) {
      if (workers_.empty()) fail("DataLoader: no thread can be started for a worker: ", error.what());
      break;  // no more threads available: fewer workers make the same batches
    }
  }
}

Prefetch::~Prefetch() {
  leaving_.store(true);
  // after this no worker is between its check of leaving_ and its wait
  { const std::lock_guard lock(mutex_); }
  wanted_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Prefetch::submit() {
  auto job = std::make_unique<Job>();
  const int64_t begin = submitted_ * options_.batch_size;
  job->indices = order_.data() + begin;
  job->count = std::min(options_.batch_size, int64_t(order_.size()) - begin);
  job->tensors = empty_batch(*plan_, job->count);
  for (const Tensor& tensor : job->tensors) job->out.push_back(tensor.raw());
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  ++submitted_;
}

void Prefetch::check_unchanged() const {
  for (size_t k = 0; k < versions_.size(); ++k) {
    const Tensor& source = plan_->columns[k].source;
    if (source.defined() && source.storage().version != versions_[k])
      fail("DataLoader: tensor ", k + 1, " of the data set was written to while workers read it");
  }
}

TensorList Prefetch::next() {
  context().check_stop();
  check_unchanged();
  std::unique_ptr<Job> job;
  {
    std::unique_lock lock(mutex_);
    if (jobs_.empty()) return {};
    while (!jobs_.front()->done) {
      context().check_stop();
      finished_.wait_for(lock, std::chrono::milliseconds(20));
    }
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  if (job->failure) std::rethrow_exception(job->failure);
  if (submitted_ < options_.batches) {
    submit();
    wanted_.notify_one();
  }
  return std::move(job->tensors);
}

void Prefetch::work(int index) {
  std::unique_lock lock(mutex_);
  while (!leaving_.load()) {
    const auto found = std::find_if(jobs_.begin(), jobs_.end(), [](const auto& job) { return !job->taken; });
    if (found == jobs_.end()) {
      wanted_.wait(lock);
      continue;
    }
    Job& job = **found;
    job.taken = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      const HelperSpan span(owner_, Helper::loader, index);
      fill_batch(*plan_, job.indices, job.count, draw_, job.out.data(), leaving_);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    job.failure = std::move(failure);
    job.done = true;
    finished_.notify_one();
  }
}

}  // namespace lunagrad
