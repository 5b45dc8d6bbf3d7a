#pragma once
// Parallel coordinates of runs: an axis for each setting in which they differ, and one for the best value of
// a metric. Pure function.
#include <string>
#include <vector>

#include "ui/base/parallel.h"
#include "ui/runs/list.h"

namespace lunagrad {

// Of the readable runs among `rows`, which are indices; those are the sources of the lines. The last axis is
// that of the metric. An axis is logarithmic where a sweep draws the logarithm, or where all values are
// positive and span a factor of 100.
ParallelPlot parallel_plot(const std::vector<RunSummary>& runs, const std::vector<size_t>& rows,
                           const std::string& metric);

}  // namespace lunagrad
