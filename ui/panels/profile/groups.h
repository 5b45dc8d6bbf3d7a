#pragma once
// The profiler's view of fused calls: the plan of a step with deferred calls, beside the times of the same
// calls in the measured steps, where each ran alone. Drawing thread only.
#include <memory>
#include <span>
#include <vector>

#include "script/view/profile.h"
#include "script/view/step_plan.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

class GroupsView {
 public:
  void draw(Workbench&, const std::shared_ptr<const StepPlan>&,
            std::span<const std::shared_ptr<const StepProfile>>);

 private:
  void draw_groups(Workbench&) const;
  void draw_alone(Workbench&) const;
  void draw_tip(const PlannedRow&, double alone_ns) const;

  std::shared_ptr<const StepPlan> plan_;
  std::shared_ptr<const StepProfile> latest_;
  size_t steps_ = 0;
  std::vector<double> alone_ns_;  // for each group the time of its calls one by one; 0: not known
};

}  // namespace lunagrad
