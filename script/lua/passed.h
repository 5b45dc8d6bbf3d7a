#pragma once
// Passes a C++ object to a C function that its caller runs in protected mode. It is not passed as a Lua
// value: a script can reach running functions (debug.getinfo), keep them, and call them later with its own
// values. Belongs to the thread of the call; the object belongs to the caller.
#include <utility>

#include "runtime/core/error.h"

namespace lunagrad {

template <class T>
class Passed {
 public:
  explicit Passed(T& object) : outer_(std::exchange(current_, &object)) {}
  ~Passed() { current_ = outer_; }
  Passed(const Passed&) = delete;

  // The object of the innermost call; an Error outside of all calls.
  static T& get() {
    if (!current_) fail("this function of the engine cannot be called by a script");
    return *current_;
  }
  // get(), which then fails until this call ends.
  static T& take() {
    T& object = get();
    current_ = nullptr;
    return object;
  }

 private:
  static thread_local inline T* current_ = nullptr;
  T* const outer_;
};

}  // namespace lunagrad
