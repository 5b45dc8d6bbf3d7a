#pragma once
// The charts of a panel in sections, which can be collapsed to their titles. Pure.
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "ui/curves/chart_model.h"

namespace lunagrad {

// The charts [first, end); the section without a name has no title and is never collapsed.
struct ChartSection {
  std::string name;
  size_t first = 0, end = 0;
  bool collapsed = false;
  size_t rows(size_t columns) const { return collapsed ? 0 : (end - first + columns - 1) / columns; }
};
// `collapsed`: names of sections.
std::vector<ChartSection> sections_of(const std::vector<Chart>&, const std::set<std::string>& collapsed);

}  // namespace lunagrad
