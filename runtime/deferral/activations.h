#pragma once
// Products and convolutions compute the activation that follows them, as they store their result: the result
// before the activation is not written. The bits stay the same (runtime/ops/elementwise/activation.h).
#include <span>
#include <vector>

#include "runtime/deferral/queued_call.h"

namespace lunagrad {

// For each call whose result only an activation reads: swaps the results of the two calls, so that the
// activation's call is no longer needed, and sets QueuedCall::activation. `alive` as for plan_calls().
// Returns the number of joined activations, which the plan counts as dropped.
size_t join_activations(std::span<QueuedCall>, const std::vector<uint8_t>& alive);

}  // namespace lunagrad
