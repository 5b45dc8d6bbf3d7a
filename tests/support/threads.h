#pragma once
// The number of threads of loops, for a scope. Each thread that joins a loop has scratch memory: with one, a
// call takes the same memory on every machine.
#include "runtime/cpu/parallel.h"

namespace lunagrad::tests {

class Threads {
 public:
  explicit Threads(int count) { set_thread_count(count); }
  ~Threads() { set_thread_count(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  const int before_ = thread_count();
};

}  // namespace lunagrad::tests
