#pragma once
// The table of runs as data: the fields of a row, and how rows are filtered and sorted. Pure functions.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "script/run/record.h"

namespace lunagrad {

struct RunSummary {
  std::string folder, name;
  std::string problem;  // why the run cannot be read, or ""
  std::string damage;   // which part of it was skipped, or ""
  std::string script, started, outcome, seed, device, note;
  std::map<std::string, std::string> config;  // the settings: parameters, arguments, seed, device
  std::string group;                          // equal for runs whose config differs only in the seed
  std::string parent;                         // the folder of the run that it was forked from, or ""
  int64_t parent_step = 0;                    // the parent's step after which this run continues
  std::string sweep;                          // the folder of the run's sweep, or "" if it is not a trial
  std::set<std::string> logarithmic;          // parameters whose logarithm the sweep draws
  std::string ranked;                         // the metric by which the sweep ranks its trials, or ""
  bool maximize = false;                      // a larger value of this metric is better
  bool starred = false;
  int64_t steps = 0, steps_total = 0;  // steps_total 0: unknown
  double seconds = 0;
  struct Values {
    double last = 0, least = 0,
           largest = 0;  // minimum and maximum of the finite values, NaN if there are none
  };
  std::map<std::string, Values> metrics;
};

// `alive`: its files changed a moment ago.
RunSummary summarize(const RunRecord&, bool alive);

// The names that any run logged, losses first.
std::vector<std::string> metric_names(const std::vector<RunSummary>&);
bool higher_is_better(const std::string& metric);                     // accuracy and similar metrics
bool higher_is_better(const RunSummary&, const std::string& metric);  // as the run's sweep says, if any
double best_of(const RunSummary&, const std::string& metric);
double last_of(const RunSummary&, const std::string& metric);

// For each run, the settings that are not the same in all readable runs of its script: "lr 0.1, seed 7".
std::vector<std::string> differences(const std::vector<RunSummary>&);

// The text of a setting as a number; NaN if it is none.
double setting_number(const std::string& text);
// The settings in which the readable trials of a sweep differ, at most `most`: first the settings of `before`
// that still differ, in their order, then new ones. Empty if `sweep` is "".
std::vector<std::string> sweep_settings(const std::vector<RunSummary>&, const std::string& sweep,
                                        const std::vector<std::string>& before, size_t most);
// The metric by which a sweep ranks its trials, if any of them logged it; otherwise "".
std::string ranked_metric(const std::vector<RunSummary>&, const std::string& sweep);
// Whether larger values of the metric are better in these runs: as the sweep says, if it ranks by it.
bool higher_is_better(const std::vector<RunSummary>&, const std::string& sweep, const std::string& metric);

enum class RunColumn { star, name, started, outcome, steps, last, best, seconds, differences, note, setting };
struct RunOrder {
  RunColumn column = RunColumn::started;
  bool descending = true;
  std::string metric;
  std::string filter;   // words; each must occur somewhere in the row, ignoring case
  std::string sweep;    // folder of a sweep: shows only its trials; "": all runs
  std::string setting;  // the name of the setting that RunColumn::setting sorts by
};
// Indices of the visible runs, in order. Runs without the sorted field come last.
std::vector<size_t> arrange(const std::vector<RunSummary>&, const std::vector<std::string>& differences,
                            const RunOrder&);

// A run's name without its timestamp.
std::string short_run_name(const std::string& name);
// The canonical name of a folder: absolute, without ".", ".." and a trailing slash.
std::string full_path(const std::string& folder);
// A short form for display: "~/train.lua" for a path in the home folder.
std::string short_path(const std::string& path);

}  // namespace lunagrad
