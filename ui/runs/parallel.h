#pragma once
// Parallel coordinates of runs: an axis for each setting in which they differ, and one for the best value of
// a metric. Pure function.
#include <string>
#include <vector>

#include "ui/base/parallel.h"
#include "ui/runs/list.h"

namespace lunagrad {

// The plot of the readable runs among `rows`, which are indices; ParallelLine::source is such an index. The
// last axis is the metric's. An axis is logarithmic if a sweep draws the parameter's logarithm, or if all
// values are positive and their ratio reaches 100.
ParallelPlot parallel_plot(const std::vector<RunSummary>& runs, const std::vector<size_t>& rows,
                           const std::string& metric);

}  // namespace lunagrad
