#pragma once
// The workers of a sweep: each worker has a file in workers/ with a counter that it raises every few seconds.
// Other workers see by their own clock that the counter stands still, so the machines' clocks need not agree.
// On the same machine the process is looked up instead, which gives the answer immediately. A wrong answer
// costs work but no result: a worker that lost its claim cannot finish it. Each object is for one thread.
// Errors are of kind file.
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace lunagrad::sweep {

class Heartbeat {
 public:
  // Makes the file, under a random name. `patience`: seconds after which a worker whose counter stands still
  // counts as dead.
  Heartbeat(const std::string& sweep, double patience);
  ~Heartbeat();  // removes the file
  Heartbeat(const Heartbeat&) = delete;

  const std::string& worker() const { return worker_; }
  void beat();  // raises the counter, if a tenth of the patience has passed

 private:
  using Clock = std::chrono::steady_clock;
  std::string worker_, path_, identity_;
  Clock::duration interval_;
  Clock::time_point last_{};
  int64_t count_ = 0;
  int file_ = -1;
};

// What this process has seen of the other workers.
class Watcher {
 public:
  Watcher(std::string sweep, double patience);
  enum class Liveness { alive, unknown, dead };
  using Clock = std::chrono::steady_clock;
  // `unknown`: the worker has not been watched for long enough.
  Liveness look(const std::string& worker, Clock::time_point now = Clock::now());

 private:
  struct Seen {
    std::string content;
    Clock::time_point since;
    bool moved = false;  // the content has changed since the first look
  };
  std::string sweep_;
  Clock::duration patience_;
  std::map<std::string, Seen> seen_;
};

}  // namespace lunagrad::sweep
