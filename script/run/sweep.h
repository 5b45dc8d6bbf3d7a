#pragma once
// The folder of a sweep, as everything but the commands of sweeps sees it. The part that makes sweeps
// (script/sweep/) reads it; without that part these functions throw Errors that say so. Any thread. Errors
// are of kind file for a bad folder.
#include <set>
#include <string>

#include "script/trust/marks.h"

namespace lunagrad {

struct CheckReport;

struct SweepSummary {
  std::string script;                 // absolute
  std::set<std::string> logarithmic;  // parameters whose logarithm is drawn
  std::string metric;                 // which ranks the trials
  bool maximize = false;
};

bool is_sweep(const std::string& folder);  // also without the part
SweepSummary read_sweep(const std::string& folder);
// The owner of a sweep: sweep.json has the mark of the user who made it.
RunOrigin origin_of_sweep(const std::string& folder);
// Checks the sweep's own files, and the runs of its trials.
void check_sweep(const std::string& folder, bool repair, CheckReport&);

// The part's functions.
struct SweepReader {
  decltype(read_sweep)* read;
  decltype(origin_of_sweep)* origin;
  decltype(check_sweep)* check;
};

}  // namespace lunagrad
