#pragma once
// The groups of calls that were computed together, on the picture of a tape and in words. Pure; any thread.
#include <string>
#include <vector>

#include "ui/graph/canvas.h"
#include "ui/tape/picture.h"

namespace lunagrad {

// A band for each group that has a box in the picture; members in closed modules have none. Bands are in the
// order of TapePlan::groups; one without boxes is not drawn. `lit`: the group of the selected node, -1: none.
std::vector<GraphCanvas::Band> group_bands(const TapePlan&, const TapePicture&, int lit);

std::string group_name(const PlannedRow&);  // "group (mul, add, tanh)"
// How the call of a node was computed: "member of a group of 5 calls: mul, add, tanh, …", or alone and why.
// "": nothing is known of it, as of a leaf.
std::string planned_text(const TapePlan&, size_t node);
// "29 calls in 18 passes over memory: 3 groups of 14 calls keep 12.0 KiB in the caches"
std::string plan_summary(const StepPlan&);
// Of which step the plan is, and whether others are like it.
std::string plan_origin(const StepPlan&);

}  // namespace lunagrad
