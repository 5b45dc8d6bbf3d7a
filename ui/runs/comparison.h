#pragma once
// Compares two runs: their configuration and their scripts. Read once, on request. Pure data.
#include <string>
#include <vector>

#include "script/run/diff.h"
#include "ui/text/diff_view.h"

namespace lunagrad {

struct RunComparison {
  std::string left, right;  // names
  std::string problem;      // why one of them cannot be read
  std::vector<ConfigDifference> config;
  std::vector<DiffRow> code;
  int added = 0, removed = 0;  // lines
};
RunComparison compare_runs(const std::string& left, const std::string& right);

}  // namespace lunagrad
