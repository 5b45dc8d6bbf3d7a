#pragma once
// The columns of the table of runs. Pure function.
#include <string>
#include <vector>

#include "ui/runs/list.h"

namespace lunagrad {

inline constexpr size_t kMostSettings = 12;  // columns for settings

struct RunTableColumn {
  RunColumn column;
  std::string title, help;
  float width;               // in em
  bool on = true;            // false: not in use
  std::string setting = {};  // for RunColumn::setting
};

// Always equally many columns in the same order, since a table with another number of columns forgets widths
// and order. The metric is beside the name, followed by the settings of a sweep.
std::vector<RunTableColumn> run_columns(const std::string& metric, const std::vector<std::string>& settings);

}  // namespace lunagrad
