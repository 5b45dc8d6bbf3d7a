#include "ui/panels/runs/brush_control.h"

#include <utility>

namespace lunagrad {
namespace {

bool is_metric_axis(const ParallelPlot& plot, size_t axis, const std::string& metric) {
  return !metric.empty() && axis + 1 == plot.axes.size();
}

}  // namespace

std::vector<size_t> BrushControl::selected(const std::vector<RunSummary>& runs,
                                           const std::vector<size_t>& rows, const std::string& metric) const {
  std::vector<size_t> found;
  for (const size_t row : rows)
    if (brushes_.selects(runs[row], metric)) found.push_back(row);
  return found;
}

void BrushControl::mark(ParallelPlot& plot, const std::vector<RunSummary>& runs,
                        const std::string& metric) const {
  for (ParallelLine& line : plot.lines) line.out = !brushes_.selects(runs[line.source], metric);
  for (size_t i = 0; i < plot.axes.size(); ++i) {
    plot.axes[i].brush.reset();
    if (is_metric_axis(plot, i, metric))
      plot.axes[i].brush = brushes_.metric;
    else if (const auto found = brushes_.settings.find(plot.axes[i].name); found != brushes_.settings.end())
      plot.axes[i].brush = found->second;
  }
}

bool BrushControl::take(Workbench& bench, const ParallelPick& pick, const ParallelPlot& plot,
                        const std::vector<size_t>& rows, const std::string& metric) {
  if (pick.brush) {
    const ParallelAxis& axis = plot.axes[pick.brush->axis];
    const AxisRange range = range_between(axis, pick.brush->low, pick.brush->high);
    if (is_metric_axis(plot, pick.brush->axis, metric))
      brushes_.metric = range;
    else
      brushes_.settings[axis.name] = range;
    if (pick.brush->done) follow(bench, rows, metric);
    return true;
  }
  if (!pick.cleared) return false;
  if (is_metric_axis(plot, *pick.cleared, metric))
    brushes_.metric.reset();
  else
    brushes_.settings.erase(plot.axes[*pick.cleared].name);
  follow(bench, rows, metric);
  return true;
}

void BrushControl::clear(Workbench& bench) {
  if (!brushes_.any()) return;
  brushes_ = {};
  follow(bench, {}, "");
}

void BrushControl::clear_metric(Workbench& bench, const std::vector<size_t>& rows,
                                const std::string& metric) {
  if (std::exchange(brushes_.metric, std::nullopt)) follow(bench, rows, metric);
}

void BrushControl::follow(Workbench& bench, const std::vector<size_t>& rows, const std::string& metric) {
  std::vector<std::string> folders;
  if (brushes_.any()) {
    if (!ticked_) ticked_ = bench.runs().shown();
    const std::vector<RunSummary>& runs = bench.runs().runs();
    for (const size_t row : best_of_runs(runs, selected(runs, rows, metric), metric, kMostCurves))
      folders.push_back(runs[row].folder);
  } else if (ticked_) {
    folders.assign(ticked_->begin(), ticked_->end());
    ticked_.reset();
  } else {
    return;
  }
  bench.curves().show_only(folders);
}

}  // namespace lunagrad
