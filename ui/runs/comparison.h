#pragma once
// Compares two runs: their configuration and their scripts. Read once, on request. Pure data.
#include <string>
#include <vector>

#include "script/run/diff.h"
#include "ui/text/diff_view.h"

namespace lunagrad {

struct RunComparison {
  std::string left, right;  // names of the runs
  std::string problem;      // why a run cannot be read
  std::vector<ConfigDifference> config;
  std::vector<DiffRow> code;
  int added = 0, removed = 0;  // numbers of lines
};
RunComparison compare_runs(const std::string& left, const std::string& right);

}  // namespace lunagrad
