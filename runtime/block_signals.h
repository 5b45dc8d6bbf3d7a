#pragma once
// No signal for the calling thread, and for those that it starts, while this lives: signals belong to the
// threads that were there before.
#include <pthread.h>
#include <signal.h>

namespace lunagrad {

class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;

 private:
  sigset_t previous_;
};

}  // namespace lunagrad
