#include "runtime/run/modes.h"

#include <algorithm>

#include "runtime/deferral/call_queue.h"
#include "runtime/run/outputs.h"
#include "runtime/tape/autocast.h"

namespace lunagrad {
namespace {

// Runs the call in another way and returns true, or returns false when the mode does not concern the call.
using Mode = bool (*)(const Context&, Call&, const InPlace* target);

bool batch(const Context&, Call& call, const InPlace* target) {
  if (!batching_in_use) return false;
  if (!target) {
    if (!concerns_batches(call)) return false;
    run_batched(call);
    return true;
  }
  if (std::none_of(call.in.begin(), call.in.end(), is_batched)) return false;
  apply_in_place_batched(*call.op, std::move(call.in), std::move(call.params));
  return true;
}

// run_guarded() checks the results of a call that is complete, with its node. A write in place is checked by
// follow(), which has the target's old values.
bool guard(const Context& ctx, Call& call, const InPlace* target) {
  if (target || ctx.guard != Guard::op) return false;
  run_guarded(call);
  return true;
}

// A write in place keeps the target's type.
bool cast(const Context& ctx, Call& call, const InPlace* target) {
  if (target || !ctx.autocast) return false;
  ctx.autocast->run(call);
  return true;
}

// A mode calls run() again, so the first mode is the outermost.
constexpr Mode kModes[] = {
    batch,  // first: the guard reads elements, which a batched tensor lacks; run_batched() casts by itself
    guard,  // before the casts, to check the result of the script's call and to name the script's operands
    cast,   // last: the call on the cast operands has no mode
};

}  // namespace

bool run_by_mode(const Context& ctx, Call& call, const InPlace* target) {
  for (const Mode mode : kModes)
    if (mode(ctx, call, target)) return true;
  return false;
}

bool defer(const Context& ctx, Call& call, Device& device) {
  if (nothing_to_compute(call) || !ctx.queue->takes(call)) return false;
  defer_allocation(call, device);
  ctx.queue->put(call, device);
  return true;
}

}  // namespace lunagrad
