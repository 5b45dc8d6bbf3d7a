#include "ui/actions/layout.h"

#include <algorithm>

namespace lunagrad {
namespace {

struct Preset {
  const char* help;
  float columns, left_rows, right_rows;
  // The first existing panel of each region comes to the front.
  std::array<std::vector<const char*>, kRegions> tabs;
};

const Preset& preset(std::string_view name) {
  static const Preset write = {"Large editor and console, curves beside them.",
                               0.56f,
                               0.7f,
                               0.5f,
                               {{{"Editor"},
                                 {"Console", "Breakpoints", "Parameters"},
                                 {"Curves", "Examples and help", "Data", "Media", "Gradients"},
                                 {"Tape", "Inspector", "Profiler"}}}};
  static const Preset watch = {"Curves, console, tape and inspector.",
                               0.45f,
                               0.64f,
                               0.54f,
                               {{{"Curves", "Gradients", "Media", "Data", "Editor", "Examples and help"},
                                 {"Console", "Parameters", "Time", "History", "Runs"},
                                 {"Tape", "Profiler"},
                                 {"Inspector"}}}};
  static const Preset inspect = {
      "Tape, inspector, editor and curves.",
      0.6f,
      0.63f,
      0.58f,
      {{{"Tape", "Profiler", "Environment"},
        {"Editor", "Console", "Runs", "Time", "Gradients", "Parameters", "History"},
        {"Inspector", "Examples and help"},
        {"Curves", "Data", "Media", "Breakpoints"}}}};
  return name == "Write" ? write : name == "Watch" ? watch : inspect;
}

}  // namespace

const char* preset_help(std::string_view name) { return preset(name).help; }

PanelLayout preset_layout(std::string_view name, const std::vector<PanelPlace>& panels) {
  const Preset& chosen = preset(name);
  PanelLayout layout;
  layout.columns = chosen.columns;
  layout.left_rows = chosen.left_rows;
  layout.right_rows = chosen.right_rows;
  for (size_t region = 0; region < kRegions; ++region)
    for (const char* title : chosen.tabs[region])
      if (std::any_of(panels.begin(), panels.end(), [&](const PanelPlace& p) { return p.title == title; }))
        layout.tabs[region].push_back(title);
  layout.place(panels);
  for (size_t region = 0; region < kRegions; ++region)
    if (!layout.tabs[region].empty()) layout.front[region] = layout.tabs[region].front();
  return layout;
}

void PanelLayout::place(const std::vector<PanelPlace>& panels) {
  for (const PanelPlace& panel : panels)
    if (!contains(panel.title)) tabs[size_t(panel.region)].push_back(panel.title);
}

bool PanelLayout::contains(std::string_view title) const {
  return std::any_of(tabs.begin(), tabs.end(), [&](const auto& region) {
    return std::find(region.begin(), region.end(), title) != region.end();
  });
}

Region PanelLayout::region_of(std::string_view title) const {
  for (size_t region = 0; region < kRegions; ++region)
    if (std::find(tabs[region].begin(), tabs[region].end(), title) != tabs[region].end())
      return Region(region);
  return Region::upper_left;
}

void PanelLayout::move(const std::string& title, Region to, size_t before) {
  auto& target = tabs[size_t(to)];
  // `before` counts the visible tabs, including the moved one.
  if (const auto own = std::find(target.begin(), target.end(), title);
      own != target.end() && size_t(own - target.begin()) < before && before <= target.size())
    --before;
  for (size_t region = 0; region < kRegions; ++region) {
    std::erase(tabs[region], title);
    if (front[region] == title) front[region] = tabs[region].empty() ? "" : tabs[region].front();
  }
  target.insert(target.begin() + long(std::min(before, target.size())), title);
  front[size_t(to)] = title;
}

void PanelLayout::show(const std::string& title) {
  if (!contains(title)) return;
  front[size_t(region_of(title))] = title;
  focused = title;
  if (!maximized.empty()) maximized = title;
}

void PanelLayout::raise(const std::string& title, const std::string& beside) {
  if (!contains(title) || region_of(title) == region_of(beside)) return;
  front[size_t(region_of(title))] = title;
}

void PanelLayout::toggle_maximized(const std::string& title) {
  maximized = maximized == title ? "" : title;
  focused = title;
}

}  // namespace lunagrad
