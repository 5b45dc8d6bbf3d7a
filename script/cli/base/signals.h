#pragma once
// Ctrl-C and SIGTERM as a count and something to poll. The handlers only count and write to a descriptor; the
// third signal ends the process at once. One object at a time, made and read by the main thread.
#include <signal.h>

namespace lunagrad {

class Signals {
 public:
  Signals();   // installs the handlers
  ~Signals();  // puts the old ones back
  Signals(const Signals&) = delete;

  int count() const;  // signals since the last reset
  int last() const;   // SIGINT or SIGTERM, 0 when none came
  void reset();
  // Waits until a signal came, wake() was called, or `seconds` (negative: for ever) have passed.
  void wait(double seconds);
  void wake();  // any thread

 private:
  struct sigaction interrupt_, terminate_;
};

}  // namespace lunagrad
