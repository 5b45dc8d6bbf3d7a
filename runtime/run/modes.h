#pragma once
// The modes of a thread and of its context that change how a call runs, in the order of the path (run.cpp):
// modes that run the call in another way, deferral, and what follows a computed call. A mode is on when
// Context or batching_in_use says so; nothing here keeps state. For the tensors' thread.
#include "runtime/batching/batched.h"
#include "runtime/run/in_place.h"

namespace lunagrad {

// Whether a mode may run calls in another way. It is one branch, so that a call without modes tests no
// single mode. modes.cpp lists these modes.
inline bool any_mode(const Context& ctx) {
  return (batching_in_use != 0) | (ctx.guard == Guard::op) | (ctx.autocast != nullptr);
}

// Lets the first mode that concerns the call run it. Returns false when there is none. `target` is null for a
// call with new outputs; a batched write in place takes the call's operands and parameters.
bool run_by_mode(const Context&, Call&, const InPlace* target);

// Gives the call to the context's queue. Returns false when the queue does not take it. The device has a
// kernel for the call, which writes its outputs where they stay.
bool defer(const Context&, Call&, Device&);

// What follows a call that was computed or deferred.
[[gnu::always_inline]] inline void follow(const Context& ctx, Call& call, const InPlace* target,
                                          uint64_t elapsed) {
  // First: a listener reads the parameters, which the tape moves into its node.
  if (ctx.trace) ctx.trace->ran(call, elapsed);
  // Between both: a listener sees a write that the guard refuses, and the tape gets no node of it.
  if (target && target->is_guarded()) [[unlikely]]
    check_written(call, target->before());
  // Last: the node holds the outputs with their versions after the write.
  if (!ctx.grad_enabled) return;
  if (target)
    record_in_place(target->target(), call, elapsed);
  else
    record(call, elapsed);
}

}  // namespace lunagrad
