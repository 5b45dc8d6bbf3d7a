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
// How the call of a node was computed. Both texts are "" if the plan has nothing about it, as for a leaf.
struct PlannedText {
  std::string brief;   // "group of 5 calls", or "computed alone"
  std::string detail;  // sentences: the calls of the group, where the result went, the time; or the reason
};
PlannedText planned_text(const TapePlan&, size_t node);
// "29 calls in 18 passes over memory: 3 groups of 14 calls keep 12.0 KiB in the caches"
std::string plan_summary(const StepPlan&);
// The step that the plan is from, and whether other steps are like it.
std::string plan_origin(const StepPlan&);

}  // namespace lunagrad
