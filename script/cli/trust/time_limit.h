#pragma once
// The --timeout of a command that waits for a replay: cancels the replay after so many seconds. If that does
// not help, as in code that Lua cannot interrupt, ends the program with exit code 124. For the main thread.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace lunagrad {

class TimeLimit {
 public:
  // 0 seconds: no limit. `cancel` is called on another thread.
  TimeLimit(double seconds, std::function<void()> cancel);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;

  bool passed() const;
  double left() const;  // seconds; 0: no limit

 private:
  void watch(double seconds, const std::function<void()>& cancel);

  const double end_;  // on the steady clock
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false, passed_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace lunagrad
