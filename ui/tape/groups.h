#pragma once
// The groups of fused calls, on the picture of a tape and in words. Pure; any thread.
#include <string>
#include <vector>

#include "ui/graph/canvas.h"
#include "ui/tape/picture.h"

namespace lunagrad {

// A band for each group that has a box in the picture; members in closed modules have no band. Bands are in
// the order of TapePlan::groups; a band without boxes is not drawn. `lit`: the group of the selected node,
// -1: none.
std::vector<GraphCanvas::Band> group_bands(const TapePlan&, const TapePicture&, int lit);

std::string group_name(const PlannedRow&);  // "group (mul, add, tanh)"
// How the call of a node was computed: "member of a group of 5 calls: mul, add, tanh, …", or alone with the
// reason. "" if the plan has nothing about it, for example for a leaf.
std::string planned_text(const TapePlan&, size_t node);
// "29 calls in 18 passes over memory: 3 groups of 14 calls keep 12.0 KiB in the caches"
std::string plan_summary(const StepPlan&);
// The step that the plan is from, and whether other steps are like it.
std::string plan_origin(const StepPlan&);

}  // namespace lunagrad
