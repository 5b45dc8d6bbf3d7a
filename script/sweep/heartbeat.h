#pragma once
// Who works on a sweep: each worker has a file in workers/, a counter that it raises every few seconds.
// Others see that it stands still, by their own clock, so the clocks of machines need not agree. On the same
// machine the process is asked for instead, which tells at once. A mistake costs work but no result: whoever
// lost a claim cannot finish it. One object by one thread. Errors are of kind file.
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace lunagrad::sweep {

class Heartbeat {
 public:
  // Makes the file, under a random name. `patience`: seconds after which one that stands still is dead.
  Heartbeat(const std::string& sweep, double patience);
  ~Heartbeat();  // removes it
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

// What this process has seen of the others.
class Watcher {
 public:
  Watcher(std::string sweep, double patience);
  enum class Sight { alive, unknown, dead };
  using Clock = std::chrono::steady_clock;
  // `unknown`: it has not been watched for long enough.
  Sight look(const std::string& worker, Clock::time_point now = Clock::now());

 private:
  struct Seen {
    std::string content;
    Clock::time_point since;
    bool moved = false;  // the content has changed before
  };
  std::string sweep_;
  Clock::duration patience_;
  std::map<std::string, Seen> seen_;
};

}  // namespace lunagrad::sweep
