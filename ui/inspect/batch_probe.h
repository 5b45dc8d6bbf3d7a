#pragma once
// Fetches the latest batch of the script's data loader from the session, which copies it on its own thread at
// a safe point. The drawing thread requests and reads; it never waits.
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>

#include "script/session_inspection.h"

namespace lunagrad {

class BatchProbe {
 public:
  static constexpr int64_t kMostCells = 1 << 18;  // largest number of elements of each tensor

  // Requests a batch a few times a second while the script runs, and when `moment` has changed (a number that
  // changes when there may be another batch). Call once a frame; `wake` is called on the session's thread.
  void watch(SessionInspection&, int64_t moment, bool running, const std::function<void()>& wake);
  std::shared_ptr<const BatchView> view() const;  // null until the first answer

 private:
  using Clock = std::chrono::steady_clock;
  // Shared with the callbacks, which may outlive the probe.
  struct Answer {
    std::mutex mutex;
    bool awaited = false;
    std::shared_ptr<const BatchView> view;
  };
  std::shared_ptr<Answer> answer_ = std::make_shared<Answer>();
  int64_t moment_ = -1;
  bool running_ = false;
  Clock::time_point asked_at_;
};

}  // namespace lunagrad
