#pragma once
// Lets a viewer use the engine on the session's thread without a trace in the run: restores the Context,
// random numbers included, when destroyed, and removes listeners until then. Made and destroyed on that
// thread.
#include "runtime/context.h"
#include "runtime/tape/finite.h"

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
  ~Aside() { set_root_watch(root_watch_); }
  Aside(const Aside&) = delete;

 private:
  RootWatch* const root_watch_ = set_root_watch(nullptr);
  const RestoreContext restore_;
};

}  // namespace lunagrad
