#pragma once
// The time limit of the window's run. Counts while the script runs, not in pauses, in which the user looks at
// the run. Drawing thread only.
#include <chrono>
#include <cstdint>
#include <utility>

#include "ui/runs/journal.h"

namespace lunagrad {

class RunTimer {
 public:
  enum class Due { nothing, stop, interrupt };
  // Returns what has to be done now; call it at least twice a second. 0 seconds: no limit. A script in a
  // sandbox is interrupted at the limit. Any other script may end its step, for the checkpoint, and is
  // interrupted if it does not end in time.
  using Clock = std::chrono::steady_clock;
  Due update(const Journal&, double seconds, bool sandbox, Clock::time_point now = Clock::now());
  bool over() const { return over_; }  // the current run, or the last one, has reached its limit
  bool tell() { return std::exchange(reported_, true) == false; }  // returns true once for each run that has

 private:
  void begin();

  uint64_t ends_ = 0;  // journal.ends() at the last call
  bool active_ = false, runs_ = false;
  bool over_ = false, reported_ = false;
  double counted_ = 0;  // seconds counted so far
  double next_ = 0;     // seconds at which the next action is due
  Clock::time_point looked_;
};

}  // namespace lunagrad
