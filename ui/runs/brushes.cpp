#include "ui/runs/brushes.h"

#include <algorithm>
#include <cmath>

namespace lunagrad {

bool RunBrushes::selects(const RunSummary& run, const std::string& chosen_metric) const {
  if (!any()) return true;
  if (!run.problem.empty()) return false;
  for (const auto& [name, range] : settings) {
    const auto found = run.config.find(name);
    if (found == run.config.end()) return false;
    const std::string& value = found->second;
    if (!(range.of_words ? range.selects(value) : range.selects(setting_number(value)))) return false;
  }
  // Infinite values have no place on the axis.
  const double best = best_of(run, chosen_metric);
  return !metric || (std::isfinite(best) && metric->selects(best));
}

std::vector<size_t> best_of_runs(const std::vector<RunSummary>& runs, std::vector<size_t> rows,
                                 const std::string& metric, size_t most) {
  const auto rank = [&](size_t row) {
    const double best = best_of(runs[row], metric);
    if (std::isnan(best)) return double(INFINITY);
    return higher_is_better(runs[row], metric) ? -best : best;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  rows.resize(std::min(rows.size(), most));
  return rows;
}

}  // namespace lunagrad
