#pragma once
// What threads ask of the system beyond std::thread.
#include <memory>

namespace lunagrad {

// Blocks all signals for the calling thread, and for threads that it starts, during the life of the object.
// The threads that existed before handle signals.
class BlockSignals {
 public:
  BlockSignals();
  ~BlockSignals();
  BlockSignals(const BlockSignals&) = delete;

 private:
  struct Mask;
  std::unique_ptr<Mask> previous_;
};

// Calls the function in the child of each later fork(), where only the calling thread exists.
void call_after_fork(void (*function)());

// Sleeps of the calling thread end when they should. By default Linux lengthens sleeps by 50 us.
void sleep_exactly();

}  // namespace lunagrad
