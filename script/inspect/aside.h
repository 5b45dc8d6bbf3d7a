#pragma once
// Work of a viewer on the session's thread: the state of the run's context is restored at the end, random
// numbers included, and the run's listeners do not see the work. Made and destroyed on that thread.
#include "runtime/context.h"

namespace lunagrad {

class Aside {
 public:
  Aside() {
    Context& own = context();
    own.guard = Guard::off;
    own.strict_device = false;
    own.read_only = false;  // the work changes only its own tensors
    own.trace = nullptr;
    own.capture = nullptr;
    own.autocast = nullptr;
    own.checkpoint = nullptr;
    own.differentiating = nullptr;
  }
  Aside(const Aside&) = delete;

 private:
  const RestoreContext restore_;
};

}  // namespace lunagrad
