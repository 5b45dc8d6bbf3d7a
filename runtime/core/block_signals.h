#pragma once
// Blocks all signals for the calling thread, and for threads that it starts, during the life of the object.
// The threads that existed before handle signals.
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
