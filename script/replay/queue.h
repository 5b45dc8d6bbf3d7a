#pragma once
// The queue of a Lua state's calls that are put off, and which steps put their calls off. For the state's
// thread.
#include "runtime/deferral/call_queue.h"
#include "script/lua/edge.h"

namespace lunagrad {

// Decides which steps put their calls off: trials, and those after a trial that gained by it.
class Trials {
 public:
  explicit Trials(int eager) : eager_(eager) {}
  // Whether the step that begins puts its calls off.
  bool wants_step();
  // Such a step is over: judges it by what its plan saved.
  void judge(const QueueReport&, bool on_cpu);
  int eager() const { return eager_; }        // steps until the next trial
  bool gains() const { return eager_ == 0; }  // by the latest trial

 private:
  int eager_;
};

struct StepQueue {
  CallQueue calls;
  Trials trials{1};  // the first step prepares much that others do not
};

// Made at the first use.
StepQueue& queue_of(Edge&);

// Computes the queue. Frees the tensors first that the script has dropped, if they are large: they need not
// be written.
void compute_queue(lua_State*, CallQueue&);

// The step is over: computes what is still put off. Returns what was computed together, in this step or the
// latest that put calls off; null if there is none.
std::shared_ptr<const QueueReport> leave_step(lua_State*);
// Whether the coming steps put their calls off, too.
bool puts_off_steps(lua_State*);
// No step follows: prints the plan that --plan asks for, if there were too few steps.
void end_steps(lua_State*);
// A step of lg.run.steps begins: from now on its calls are put off, if the state wants that.
void enter_step(lua_State*);

}  // namespace lunagrad
