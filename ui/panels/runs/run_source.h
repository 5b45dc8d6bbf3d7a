#pragma once
// Commands of the palette for the listed runs. Drawing thread only.
#include "ui/workbench/workbench.h"

namespace lunagrad {

// A command for each run that can be read: it shows or hides the run's curves. Call once.
void add_run_source(Workbench&);

}  // namespace lunagrad
