#pragma once
// Runs a session's tasks: evaluations, answers to viewers, and the taking of states for a reload. A task may
// run at a safe point of the script, even inside a backward pass. It gets a Context like a script's, and the
// script's Context is restored after it. For the session's thread; it has no lock.
#include <functional>

#include "runtime/core/context.h"
#include "script/session/events.h"
#include "script/session/run_control.h"
#include "script/session/script_state.h"
#include "script/session/viewers.h"

namespace lunagrad {

class Tasks {
 public:
  Tasks(Context& context, RunControl& control, Events& events, ScriptState& script, Viewers& viewers)
      : context_(context), control_(control), events_(events), script_(script), viewers_(viewers) {}
  Tasks(const Tasks&) = delete;

  void run_next();                           // the oldest posted task
  void run_own(std::function<void()> task);  // a task of the session itself
  // Called within a task: `call` is called when the task is over, so that an interrupt reaches the script
  // again.
  void call_after(std::function<void()> call) { after_task_ = std::move(call); }

 private:
  void run(std::function<void()> task);

  Context& context_;
  RunControl& control_;
  Events& events_;
  ScriptState& script_;
  Viewers& viewers_;
  std::function<void()> after_task_;
};

}  // namespace lunagrad
