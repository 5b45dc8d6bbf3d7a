#pragma once
// The queue of a Lua state's deferred calls, and the choice of steps whose calls are deferred. For the
// state's thread.
#include "runtime/deferral/call_queue.h"
#include "script/lua/binding_state.h"

namespace lunagrad {

// Chooses the steps whose calls are deferred: trials, and the steps after a trial that gained by it.
class Trials {
 public:
  explicit Trials(int eager) : eager_(eager) {}
  // Whether the step that begins defers its calls.
  bool wants_step();
  // Called after a step with deferred calls: judges it by what its plan saved.
  void judge(const QueueReport&, bool on_cpu);
  int eager() const { return eager_; }        // steps until the next trial
  bool gains() const { return eager_ == 0; }  // in the latest trial

 private:
  int eager_;
};

struct StepQueue {
  CallQueue calls;
  Trials trials{1};  // the first step is eager: it prepares much that later steps do not
};

// Made at the first use.
StepQueue& queue_of(BindingState&);

// Computes the queue. First frees large tensors that the script dropped: their results need not be written.
void compute_queue(lua_State*, CallQueue&);

// Ends the step: computes the calls that are still deferred. Returns the report of this step, or of the
// latest step with deferred calls; null if there is none.
std::shared_ptr<const QueueReport> leave_step(lua_State*);
// Whether the coming steps defer their calls.
bool defers_steps(lua_State*);
// Called when no step follows: prints the plan that --plan asks for, if there were too few steps.
void end_steps(lua_State*);
// Begins a step of lg.run.steps: defers its calls from now on, if the state's settings say so.
void enter_step(lua_State*);

}  // namespace lunagrad
