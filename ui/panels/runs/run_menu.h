#pragma once
// The menu of a row of Runs, and the tooltip of a line of its parallel coordinates. Drawing thread only.
#include <functional>
#include <string>
#include <vector>

#include "ui/base/parallel.h"
#include "ui/runs/list.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

// What can be done with the selected runs. `item` is the name of its button in the description,
// null if it is only in the menu.
struct RunAction {
  const char *label, *item, *help;
  bool possible;
  std::function<void()> act;
};
void draw_run_menu(Workbench&, const std::vector<RunAction>&);  // into an open popup

// The run's name, its values on the axes of the plot, and its best value of the metric ("" for none).
std::string run_values(const RunSummary&, const ParallelPlot&, const std::string& metric);

}  // namespace lunagrad
