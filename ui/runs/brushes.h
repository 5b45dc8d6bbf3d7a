#pragma once
// The runs that the user selects by brushing the axes of parallel coordinates: settings in a range or among
// some words, a metric in a range. Several brushes select the runs that are in all of them. Plain values.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ui/base/parallel.h"
#include "ui/runs/list.h"

namespace lunagrad {

struct RunBrushes {
  std::map<std::string, AxisRange> settings;  // by name
  std::optional<AxisRange> metric;            // of the best value of the chosen metric

  bool any() const { return metric || !settings.empty(); }
  // `metric`: the chosen one. A run without a value on a brushed axis is not selected.
  bool selects(const RunSummary&, const std::string& chosen_metric) const;
};

// At most `most` of these runs, those with the best values of the metric, best first; runs without a value
// last.
std::vector<size_t> best_of_runs(const std::vector<RunSummary>&, std::vector<size_t> rows,
                                 const std::string& metric, size_t most);

}  // namespace lunagrad
