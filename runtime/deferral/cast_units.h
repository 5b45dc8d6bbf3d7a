#pragma once
// Joins small independent casts of a plan into units, so that a GPU computes each unit in one dispatch: for
// example the weights of a model under autocast, and their gradients. Casts move to a position where all
// casts of a unit can be computed, but only if the plan's results never take more memory than before.
#include "runtime/deferral/groups.h"

namespace lunagrad {

// `alive` as for plan_calls(). The plan keeps its other units in their order.
void join_casts(Plan&, std::span<const QueuedCall>, const std::vector<uint8_t>& alive);

}  // namespace lunagrad
