#include "ui/tape/groups.h"

#include <algorithm>

#include "runtime/core/figures.h"
#include "runtime/core/op_name.h"
#include "ui/base/counted.h"

namespace lunagrad {
namespace {

constexpr size_t kMostNames = 8;

std::string names_of(const PlannedRow& row, size_t most) {
  std::string names;
  for (size_t i = 0; i < row.members.size() && i < most; ++i)
    names += (i ? ", " : "") + public_op_name(row.members[i].op);
  return row.members.size() > most ? names + ", …" : names;
}

}  // namespace

std::vector<GraphCanvas::Band> group_bands(const TapePlan& plan, const TapePicture& picture, int lit) {
  std::vector<GraphCanvas::Band> bands(plan.groups.size());
  std::vector<int32_t> band_of(picture.boxes.size(), -1);
  for (size_t g = 0; g < bands.size(); ++g) {
    const TapePlan::Group& group = plan.groups[g];
    GraphCanvas::Band& band = bands[g];
    for (size_t i = group.nodes.size(); i-- > 0;) {  // in the order of execution
      const uint32_t box = picture.box_of[group.nodes[i]];
      if (picture.boxes[box].is_group) continue;
      band.boxes.push_back(box);
      band_of[box] = int32_t(g);
    }
    band.lit = lit >= 0 && plan.nodes[size_t(lit)].group == int32_t(g);
    const size_t count = plan.plan->groups[group.row].members.size();
    const std::string name = "group of " + std::to_string(count);
    // A group whose results are all read elsewhere saves no bytes: its label does not speak of them.
    const std::string saved = group.bytes > 0 ? bytes_figure(group.bytes) + " not written" : "";
    const std::string time = group.ns > 0 ? duration_figure(group.ns) : "";
    if (!saved.empty() && !time.empty()) band.labels.push_back(name + ": " + saved + ", " + time);
    if (const std::string& fact = saved.empty() ? time : saved; !fact.empty())
      band.labels.push_back(name + ": " + fact);
    band.labels.push_back(name);
  }
  for (uint32_t s = 0; s < picture.canvas.stroke_edge.size(); ++s) {
    const Graph::Edge& edge = picture.canvas.graph.edges[picture.canvas.stroke_edge[s]];
    if (band_of[edge.from] >= 0 && band_of[edge.from] == band_of[edge.to])
      bands[size_t(band_of[edge.from])].strokes.push_back(s);
  }
  return bands;
}

std::string group_name(const PlannedRow& row) { return "group (" + names_of(row, kMostNames) + ")"; }

PlannedText planned_text(const TapePlan& plan, size_t node) {
  if (node >= plan.nodes.size()) return {};
  const TapePlan::OfNode& of = plan.nodes[node];
  if (of.alone >= 0)
    return {"computed alone", "Computed alone: " + plan.plan->alone[size_t(of.alone)].why + "."};
  if (of.group < 0) return {};
  const TapePlan::Group& group = plan.groups[size_t(of.group)];
  const PlannedRow& row = plan.plan->groups[group.row];
  const std::string brief = "group of " + counted(int64_t(row.members.size()), "call");
  std::string detail = "Computed in a " + brief + ": " + names_of(row, row.members.size()) + ". ";
  detail += of.stored ? "Its result was written, since something outside of the group reads it."
                      : "Its result never left the caches.";
  if (group.ns > 0) detail += " The group took " + duration_figure(group.ns) + ".";
  return {brief, detail};
}

std::string plan_summary(const StepPlan& plan) {
  const std::string text = counted(plan.calls, "call") + " in " + count_figure(plan.passes) +
                           (plan.passes == 1 ? " pass" : " passes") + " over memory";
  if (plan.groups_made == 0) return text + ": no groups";
  const std::string groups =
      text + ": " + counted(plan.groups_made, "group") + " of " + counted(plan.grouped, "call");
  if (plan.bytes_saved <= 0) return groups;
  return groups + (plan.groups_made == 1 ? " keeps " : " keep ") + bytes_figure(plan.bytes_saved) +
         " in the caches";
}

std::string plan_origin(const StepPlan& plan) {
  const std::string text = "Step " + std::to_string(plan.step) + " was deferred and planned. ";
  return text + (plan.goes_on ? "So are steps that no panel looks into; others are computed call by call."
                              : "Later steps are computed call by call: deferral costs more than it saves.");
}

}  // namespace lunagrad
