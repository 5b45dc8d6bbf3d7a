#pragma once
// A replay that is used once, on a separate thread: the drawing thread reads its progress and may cancel it.
// Owns the replay while it works. Lives until run() has returned.
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "script/time/replay.h"

namespace lunagrad {

class ReplayWork {
 public:
  // `wake` requests a frame; it is called on any thread. The replay begins after step `at`.
  ReplayWork(std::function<void()> wake, int64_t at) : wake_(std::move(wake)), at_(at) {}

  // Makes a replay of the run in this folder and calls `use` with it; then ends the replay's session, which
  // may take a moment. Does nothing after cancel(). Throws what the replay and `use` throw. Called on the
  // replay's thread.
  void run(const std::string& folder, ReplayOptions options, const std::function<void(Replay&)>& use);
  // Any thread:
  void cancel();
  int64_t at() const;  // the latest step

 private:
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  bool cancelled_ = false;
  int64_t at_ = 0;
  Replay* replay_ = nullptr;  // set while run() uses it
};

}  // namespace lunagrad
