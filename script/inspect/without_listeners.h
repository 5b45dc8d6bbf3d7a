#pragma once
// WithoutListeners lets a viewer use the engine on the session's thread without a trace in the run. It
// removes listeners, and when destroyed restores them and the Context, random numbers included. Made and
// destroyed on that thread.
#include <utility>

#include "runtime/core/context.h"
#include "runtime/tape/finite.h"

namespace lunagrad {

// While it lives, each call is eager, whatever is deferred around it.
class EagerCalls {
 public:
  EagerCalls() = default;
  ~EagerCalls() { context().queue = queue_; }
  EagerCalls(const EagerCalls&) = delete;

 private:
  CallQueue* const queue_ = std::exchange(context().queue, nullptr);
};

class WithoutListeners {
 public:
  WithoutListeners() {
    Context& own = context();
    own.guard = Guard::off;
    own.strict_device = false;
    own.read_only = false;  // the viewer changes only its own tensors
    own.trace = nullptr;
    own.capture = nullptr;
    own.autocast = nullptr;
    own.checkpoint = nullptr;
    own.differentiating = nullptr;
  }
  ~WithoutListeners() { set_root_watch(root_watch_); }
  WithoutListeners(const WithoutListeners&) = delete;

 private:
  RootWatch* const root_watch_ = set_root_watch(nullptr);
  const RestoreContext restore_;
};

}  // namespace lunagrad
