#pragma once
// Time in tests, which must pass on a busy machine. A wait for an event has a limit that only a hang reaches.
// How long something takes, in wall-clock or processor time, is judged in long runs alone, which have the
// machine for themselves: other programs take the caches and the other half of a core.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/support/sanitizers.h"

namespace lunagrad::tests {

// How long to wait for an event before the test fails, in seconds. Far more than it takes at any load.
inline constexpr double kHangSeconds = 120;

// Whether `./test --all` runs the long variants (LUNAGRAD_TEST_ALL).
inline bool long_run() { return std::getenv("LUNAGRAD_TEST_ALL") != nullptr; }

// Selects one of `apart` cases, and every case in long runs: Mesa's CPU driver takes seconds to compile a
// kernel. With `apart` and the lengths of inner loops coprime, the cases take turns in all loops.
class Turns {
 public:
  explicit Turns(size_t apart) : apart_(long_run() ? 1 : apart) {}
  bool next() { return at_++ % apart_ == 0; }

 private:
  const size_t apart_;
  size_t at_ = 0;
};

inline double seconds_of(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}
// Processor time in seconds: of all threads of this process, of the calling thread, of the child processes
// that have been waited for.
inline double process_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
inline double thread_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
inline double children_seconds() {
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Waits until the condition holds, asking every millisecond; false after kHangSeconds.
template <class Condition>
bool eventually(Condition&& condition) {
  const double limit = seconds_of(CLOCK_MONOTONIC) + kHangSeconds;
  while (!condition()) {
    if (seconds_of(CLOCK_MONOTONIC) > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Waits until the other threads of this process have used so many seconds of processor time.
inline bool let_work(double seconds) {
  const double until = process_seconds() + seconds;
  return eventually([&] { return process_seconds() >= until; });
}

// How many times longer a thread takes at the machine's present load than alone: wall-clock over processor
// time of a loop of 50 ms.
inline double slowdown() {
  const double wall = seconds_of(CLOCK_MONOTONIC), begin = thread_seconds();
  while (thread_seconds() < begin + 0.05) {
  }
  return std::max(1.0, (seconds_of(CLOCK_MONOTONIC) - wall) / (thread_seconds() - begin));
}

// Judges a time or a share of time where the machine is quiet: in long runs, without a sanitizer.
#define CHECK_TIME(...)                                                                  \
  do {                                                                                   \
    if (lunagrad::tests::long_run() && !lunagrad::tests::kSanitized) CHECK(__VA_ARGS__); \
  } while (false)

// Whether something took at most `limit` seconds of wall-clock time, or at most the limit times the
// slowdown at the present load.
inline bool in_time(double seconds, double limit) {
  return seconds <= limit || seconds <= limit * slowdown();
}

}  // namespace lunagrad::tests
