#include "ui/panels/runs/run_menu.h"

#include <imgui.h>

#include <cmath>

#include "runtime/core/figures.h"
#include "ui/window/theme.h"

namespace lunagrad {

void draw_run_menu(Workbench& bench, const std::vector<RunAction>& actions) {
  for (const RunAction& action : actions) {
    const bool chosen = ImGui::MenuItem(action.label, nullptr, false, action.possible);
    bench.description().add_last("runs.menu", action.label + std::string(action.possible ? "" : " not now"));
    explain(action.help);
    if (chosen) action.act();
  }
}

std::string run_values(const RunSummary& run, const ParallelPlot& plot, const std::string& metric) {
  std::string values = run.name;
  const size_t settings = plot.axes.size() - (metric.empty() ? 0 : 1);
  for (size_t i = 0; i < settings; ++i)
    if (const auto found = run.config.find(plot.axes[i].name); found != run.config.end())
      values += "\n" + found->first + " " + found->second;
  if (metric.empty()) return values;
  const double best = best_of(run, metric);
  return values + "\n" + (std::isnan(best) ? "no " + metric : metric + " " + number_figure(best));
}

}  // namespace lunagrad
