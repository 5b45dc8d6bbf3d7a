#pragma once
// Measures the duration of some work: wall time, and CPU time of the calling thread, which other load on the
// machine changes little. One thread.
#include <chrono>
#include <ctime>

namespace lunagrad {

struct Spent {
  double seconds = 0, cpu_seconds = 0;
  Spent& operator+=(const Spent& more) {
    seconds += more.seconds;
    cpu_seconds += more.cpu_seconds;
    return *this;
  }
};

// CPU time of the calling thread since its start.
inline double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

class Stopwatch {
 public:
  Spent spent() const {
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(),
            thread_cpu_seconds() - cpu_began_};
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double cpu_began_ = thread_cpu_seconds();
};

}  // namespace lunagrad
