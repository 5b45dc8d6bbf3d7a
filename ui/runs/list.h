#pragma once
// The table of runs as data: what one line says of a run, and how lines are filtered and sorted. Pure
// functions.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "script/run/record.h"

namespace lunagrad {

struct RunSummary {
  std::string folder, name;
  std::string problem;  // why it cannot be read, "" when it can
  std::string script, started, outcome, seed, device, note;
  std::map<std::string, std::string> config;  // what was set: parameters, arguments, seed, device
  std::string group;                          // equal for runs whose config differs in nothing but the seed
  bool starred = false;
  int64_t steps = 0, steps_total = 0;  // total 0: unknown
  double seconds = 0;
  struct Values {
    double last = 0, least = 0, largest = 0;  // least and largest of the finite ones, NaN if there are none
  };
  std::map<std::string, Values> metrics;
};

// `alive`: its files changed a moment ago.
RunSummary summarize(const RunRecord&, bool alive);

// Names that any run logged, those that tell of a loss first.
std::vector<std::string> metric_names(const std::vector<RunSummary>&);
bool higher_is_better(const std::string& metric);  // accuracy and its like
double best_of(const RunSummary&, const std::string& metric);
double last_of(const RunSummary&, const std::string& metric);

// Of each run what it was given that not all readable runs of the same script were given: "lr 0.1, seed 7".
std::vector<std::string> differences(const std::vector<RunSummary>&);

enum class RunColumn { star, name, started, outcome, steps, last, best, seconds, differences, note };
struct RunOrder {
  RunColumn column = RunColumn::started;
  bool descending = true;
  std::string metric;
  std::string filter;  // words; each must occur somewhere in the line, whatever its case
};
// Indices of the runs that are shown, in order. Runs that lack what is sorted by come last.
std::vector<size_t> arrange(const std::vector<RunSummary>&, const std::vector<std::string>& differences,
                            const RunOrder&);

// A run's name without the time that it begins with.
std::string short_run_name(const std::string& name);
std::string duration_text(double seconds);
// How folders are named here: from the root, without . and .. and a slash at the end.
std::string full_path(const std::string& folder);

}  // namespace lunagrad
