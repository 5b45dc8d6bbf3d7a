#pragma once
// Joins small casts of a plan that do not depend on each other into units, so that a GPU computes each unit
// in one dispatch: the weights of a model under autocast, and their gradients. Casts move for that, to where
// all of a unit can be computed, but only as far as the results of the plan never take more memory than
// before.
#include "runtime/deferral/groups.h"

namespace lunagrad {

// `alive` as for plan_calls(). The plan keeps its other units in their order.
void widen(Plan&, std::span<const QueuedCall>, const std::vector<uint8_t>& alive);

}  // namespace lunagrad
