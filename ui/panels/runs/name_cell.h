#pragma once
// The name of a run in the table, as a branch of the tree of forks. Drawing thread only.
#include <string>

#include "ui/runs/tree.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

// Draws the name; a click anywhere in the row selects the run. Returns true when it was clicked.
bool draw_name_cell(Workbench&, const RunSummary&, const RunTreeRow&, bool selected);
// "\nwent on after step 40 of FOLDER"; "" for a run that is not a fork.
std::string fork_text(const RunSummary&);

}  // namespace lunagrad
