#pragma once
// Choices of the tape's tool row that the settings or the session keep. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

// The direction in which data flows.
void draw_direction_choice(Workbench&);
// The backward passes of the step. Passes from the same line count as one: which of them, a step decides.
void draw_pass_choice(Workbench&, const TapeSnapshot&);
// Whether the tape shows what was computed together. Null: no step was planned yet.
void draw_group_switch(Workbench&, const StepPlan*);

}  // namespace lunagrad
