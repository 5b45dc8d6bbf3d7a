#pragma once
// Defers the calls of this thread's context for the life of an object.
#include "runtime/core/context.h"
#include "runtime/deferral/call_queue.h"

namespace lunagrad {

// Calls go into `queue`, unless an outer object defers them already or `queue` is null. The destructor does
// not compute the queue: the first read of a result does.
class DeferCalls {
 public:
  explicit DeferCalls(CallQueue* queue) : outer_(context().queue) {
    if (!outer_) context().queue = queue;
  }
  ~DeferCalls() { context().queue = outer_; }
  DeferCalls(const DeferCalls&) = delete;
  bool outermost() const { return !outer_; }

 private:
  CallQueue* outer_;
};

}  // namespace lunagrad
