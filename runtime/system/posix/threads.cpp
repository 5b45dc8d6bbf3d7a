#include "runtime/system/threads.h"

#include <pthread.h>
#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace lunagrad {

struct BlockSignals::Mask {
  sigset_t signals;
};

BlockSignals::BlockSignals() : previous_(std::make_unique<Mask>()) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous_->signals);
}

BlockSignals::~BlockSignals() { pthread_sigmask(SIG_SETMASK, &previous_->signals, nullptr); }

void call_after_fork(void (*function)()) { pthread_atfork(nullptr, nullptr, function); }

void sleep_exactly() {
#ifdef __linux__
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
#endif
}

}  // namespace lunagrad
