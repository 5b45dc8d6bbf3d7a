#pragma once
// The profiler's view of what is computed together: the plan of a step whose calls were put off, beside what
// the same calls took in the measured steps, where each ran alone. Drawing thread only.
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
  std::vector<double> alone_ns_;  // of each group: what its calls take one by one; 0: not known
};

}  // namespace lunagrad
