#pragma once
// The batches of one pass through a data set, made ahead of their use by threads of its own. The batches come
// in order whatever thread made them, and are those that fill_batch() gives on the calling thread, bit by
// bit. Belongs to the thread that made it, which alone touches tensors: what the workers get are addresses.
// Destroying it ends the workers after the sample that they are at.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/error.h"
#include "runtime/io/batch.h"

namespace lunagrad {

struct Context;

struct PrefetchOptions {
  int64_t batch_size = 1;
  int64_t first = 0;    // the first batch that is wanted, from 0
  int64_t batches = 0;  // of the pass, those before `first` included
  int workers = 1;
  int ahead = 2;  // batches in the making or waiting, at least `workers`
};

class Prefetch {
 public:
  // order: the samples of the pass, each below plan->samples.
  Prefetch(std::shared_ptr<const BatchPlan> plan, std::vector<int64_t> order, PrefetchOptions, BatchDraw);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;

  const BatchPlan& plan() const { return *plan_; }
  // The next batch, one tensor a column; empty at the end. Waits for it, and gives way to a request to stop.
  // Throws what making the batch threw, or an Error when a tensor of the plan was written to since the start.
  TensorList next();

 private:
  struct Job {
    TensorList tensors;  // the owner's
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
  const Context* const owner_;  // never looked into
  int64_t submitted_;
  std::vector<uint32_t> versions_;

  std::mutex mutex_;  // guards jobs_ and what is in them but for `out` of a taken job
  std::condition_variable wanted_, finished_;
  std::deque<std::unique_ptr<Job>> jobs_;
  std::atomic<bool> leaving_{false};
  std::vector<std::thread> workers_;
};

}  // namespace lunagrad
