#pragma once
// Counts Ctrl-C, SIGTERM and SIGUSR1 and lets the main thread wait for them. The handlers only count and
// write to an eventfd; the third Ctrl-C or SIGTERM ends the process at once. SIGUSR2 counts as a SIGTERM
// unless a signal came already. A sweep worker sends SIGUSR2 to its trial, to which Slurm may also send
// SIGTERM; counting both would end the run at once. Only one object may exist; the main thread makes and
// reads it.
#include <signal.h>

namespace lunagrad {

class Signals {
 public:
  Signals();   // installs the handlers
  ~Signals();  // restores the previous handlers
  Signals(const Signals&) = delete;

  int count() const;              // signals since the last reset
  int last() const;               // SIGINT or SIGTERM, 0 when none came
  int checkpoints_asked() const;  // number of SIGUSR1
  void reset();
  // Waits until a signal came, wake() was called, or `seconds` (negative: for ever) have passed.
  void wait(double seconds);
  void wake();  // any thread

 private:
  struct sigaction interrupt_, terminate_, user_, worker_;
};

}  // namespace lunagrad
