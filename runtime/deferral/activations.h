#pragma once
// Products and convolutions take over the activation that follows them, and compute it where they store
// their result: the result before it is not written. They do so in its bits (runtime/ops/activation.h).
#include <span>
#include <vector>

#include "runtime/deferral/queued_call.h"

namespace lunagrad {

// For each call whose result only an activation reads: exchanges the results of the two, so that nobody
// needs the activation's call any more, and sets QueuedCall::activation. `alive` as for plan_calls(). Returns
// how many: the plan counts their activations as dropped.
size_t join_activations(std::span<QueuedCall>, const std::vector<uint8_t>& alive);

}  // namespace lunagrad
