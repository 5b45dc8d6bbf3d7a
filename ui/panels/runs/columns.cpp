#include "ui/panels/runs/columns.h"

namespace lunagrad {

std::vector<RunTableColumn> run_columns(const std::string& metric, const std::vector<std::string>& settings) {
  std::vector<RunTableColumn> columns = {
      {RunColumn::star, "star", "Starred runs. Click to star. Kept as the file star in the run's folder.", 3},
      {RunColumn::name, "run", "Name of the run's folder, without its time.", 11},
      {RunColumn::best, metric.empty() ? "best" : "best " + metric,
       "Lowest value of the metric; highest for an accuracy, score or reward, or if the sweep says so.", 8}};
  for (size_t i = 0; i < kMostSettings; ++i) {
    const std::string name = i < settings.size() ? settings[i] : "";
    columns.push_back({RunColumn::setting, name,
                       "The setting " + name + ", in which trials of the sweep differ.", 6, !name.empty(),
                       name});
  }
  columns.push_back(
      {RunColumn::outcome, "outcome",
       "How it ended: ok, error, numeric (NaN or Inf), stopped; running while its files change, "
       "unfinished if it was cut off; paused if this window's run is.",
       5});
  columns.push_back({RunColumn::steps, "steps", "Last step of how many.", 8});
  columns.push_back({RunColumn::last, "last", "Last value of the metric chosen above.", 6});
  columns.push_back({RunColumn::started, "started", "Start of the run, in UTC.", 8.5f});
  columns.push_back({RunColumn::seconds, "time", "Duration of the run.", 5.5f});
  // The settings of a sweep have columns of their own, as far as there are enough.
  const bool own_columns = !settings.empty() && settings.size() < kMostSettings;
  columns.push_back({RunColumn::differences, "differences",
                     "Settings in which this run differs from others of its script.", 16, !own_columns});
  columns.push_back({RunColumn::note, "note", "Kept as note.txt in the run's folder.", 14});
  return columns;
}

}  // namespace lunagrad
