#pragma once
// Cells of the table of runs: the name, as a branch of the tree of forks, and the star. Drawing thread only.
#include <string>

#include "ui/runs/tree.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

// Draws the name; a click anywhere in the row selects the run. Returns true when it was clicked.
bool draw_name_cell(Workbench&, const RunSummary&, const RunTreeRow&, bool selected);
bool draw_star_cell(Workbench&, const RunSummary&);  // true when it was clicked
// "\nwent on after step 40 of FOLDER"; "" for a run that is not a fork.
std::string fork_text(const RunSummary&);

}  // namespace lunagrad
