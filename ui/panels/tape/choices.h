#pragma once
// Choices in the tape's tool row that are stored in the settings or the session. Drawing thread only.
#include <cstdint>
#include <span>

#include "ui/workbench/workbench.h"

namespace lunagrad {

// Which modules of the tape are open.
struct OpenChoice {
  const char *name, *command;  // in the list, and as a command
  CollapseState::Mode mode;
  uint32_t depth;
  const char* help;
};
std::span<const OpenChoice> open_choices();

// The direction in which data flows.
void draw_direction_choice(Workbench&);
// Chooses one of the step's backward passes. Passes from the same line count as one choice: each step decides
// which of them it shows.
void draw_pass_choice(Workbench&, const TapeSnapshot&);
// Switches the marks of fused calls on the tape. Null: no step has a plan yet.
void draw_group_switch(Workbench&, const StepPlan*);

}  // namespace lunagrad
