#include "ui/curves/chart_sections.h"

namespace lunagrad {

std::vector<ChartSection> sections_of(const std::vector<Chart>& charts,
                                      const std::set<std::string>& collapsed) {
  std::vector<ChartSection> sections;
  for (size_t i = 0; i < charts.size(); ++i) {
    const std::string& name = charts[i].section;
    if (sections.empty() || sections.back().name != name)
      sections.push_back({name, i, i, !name.empty() && collapsed.count(name) > 0});
    sections.back().end = i + 1;
  }
  return sections;
}

}  // namespace lunagrad
