#pragma once
// The time limit of the window's run. It counts while the script runs, not in pauses: then the user looks at
// the run. Drawing thread only.
#include <chrono>
#include <cstdint>
#include <utility>

#include "ui/runs/journal.h"

namespace lunagrad {

class RunTimer {
 public:
  enum class Due { nothing, stop, interrupt };
  // What has to be done now; at least twice a second. 0 seconds: no limit. A script in a sandbox is
  // interrupted at the limit; any other may end its step, for the checkpoint, and is interrupted when it does
  // not.
  using Clock = std::chrono::steady_clock;
  Due update(const Journal&, double seconds, bool sandbox, Clock::time_point now = Clock::now());
  bool over() const { return over_; }  // the run that goes on, or the last one, has reached its limit
  bool tell() { return std::exchange(told_, true) == false; }  // true once for each such run

 private:
  void begin();

  uint64_t ends_ = 0;  // of the journal
  bool active_ = false, runs_ = false;
  bool over_ = false, told_ = false;
  double counted_ = 0;  // seconds
  double next_ = 0;     // when something is due
  Clock::time_point looked_;
};

}  // namespace lunagrad
