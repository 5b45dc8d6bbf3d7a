#pragma once
// The brushes on the axes of the parallel coordinates, and the curves that follow them: while there is a
// brush, Curves shows the best of the selected runs; then the runs that were ticked before. Drawing thread
// only.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ui/runs/brushes.h"
#include "ui/widgets/parallel_plot.h"
#include "ui/workbench/workbench.h"

namespace lunagrad {

class BrushControl {
 public:
  static constexpr size_t kMostCurves = 20;  // more lines could not be told apart

  bool any() const { return brushes_.any(); }
  // The runs among `rows` that all brushes select. `metric`: the chosen one, here and below.
  std::vector<size_t> selected(const std::vector<RunSummary>&, const std::vector<size_t>& rows,
                               const std::string& metric) const;
  // Makes the lines of the other runs pale, and gives the axes their brushes.
  void mark(ParallelPlot&, const std::vector<RunSummary>&, const std::string& metric) const;
  // Takes a drag along an axis, or a click on one, over. The curves follow when the button is released.
  // `rows`: the runs of the plot. Returns true when a brush has changed.
  bool take(Workbench&, const ParallelPick&, const ParallelPlot&, const std::vector<size_t>& rows,
            const std::string& metric);
  void clear(Workbench&);
  // Removes the brush on the metric's axis, since another metric will be chosen.
  void clear_metric(Workbench&, const std::vector<size_t>& rows, const std::string& metric);

 private:
  void follow(Workbench&, const std::vector<size_t>& rows, const std::string& metric);
  RunBrushes brushes_;
  std::optional<std::set<std::string>> ticked_;  // the runs whose curves were shown before the first brush
};

}  // namespace lunagrad
