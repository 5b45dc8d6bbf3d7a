#pragma once
// The batches of one pass through a data set, made in advance by worker threads. The batches are in order and
// bit-equal to the batches that fill_batch() makes on the calling thread. Belongs to the thread that made it;
// only that thread accesses tensors, the workers get addresses. The destructor ends the workers after their
// current sample.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/io/batch.h"

namespace lunagrad {

struct Context;

struct PrefetchOptions {
  int64_t batch_size = 1;
  int64_t first = 0;    // index of the first batch to make
  int64_t batches = 0;  // of the whole pass, including the batches before `first`
  int workers = 1;
  int ahead = 2;  // batches being made or waiting for next(); at least `workers`
};

class Prefetch {
 public:
  // order: the samples of the pass, each below plan->samples.
  Prefetch(std::shared_ptr<const BatchPlan> plan, std::vector<int64_t> order, PrefetchOptions, BatchDraw);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;

  const BatchPlan& plan() const { return *plan_; }
  // Returns the next batch, one tensor per column; empty at the end. Waits for the batch, or until a stop:
  // Error(cancelled). Rethrows a worker's error. Error when a tensor of the plan was written in place since
  // the start.
  TensorList next();

 private:
  struct Job {
    TensorList tensors;  // only the owner's thread uses them
    std::vector<void*> out;
    const int64_t* indices = nullptr;
    int64_t count = 0;
    bool taken = false, done = false;
    std::exception_ptr failure;
  };

  void submit();
  void work(int index);
  void check_unchanged() const;

  const std::shared_ptr<const BatchPlan> plan_;
  const std::vector<int64_t> order_;
  const PrefetchOptions options_;
  const BatchDraw draw_;
  const Context* const owner_;  // only its address is used
  int64_t submitted_;
  std::vector<uint32_t> versions_;

  std::mutex mutex_;  // guards jobs_ and their fields, except `out` of a job that a worker has taken
  std::condition_variable wanted_, finished_;
  std::deque<std::unique_ptr<Job>> jobs_;
  std::atomic<bool> leaving_{false};
  std::vector<std::thread> workers_;
};

}  // namespace lunagrad
