#pragma once
// Where the panels are: four regions with tabs, the shares of their splitters, which tab is in front, and the
// one panel that fills the window, if any. Panels are known by their titles, so that a layout can be kept in
// a file and outlives panels that come and go. Pure; any thread.
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

enum class Region { upper_left, lower_left, upper_right, lower_right };
constexpr size_t kRegions = 4;
constexpr std::array<const char*, kRegions> kRegionNames = {"upper left", "lower left", "upper right",
                                                            "lower right"};

// A panel and where it goes when nothing else is said.
struct PanelPlace {
  std::string title;
  Region region;
};

struct PanelLayout {
  // The share of the left column, and of the upper region in each column.
  float columns = 0.45f, left_rows = 0.64f, right_rows = 0.54f;
  std::array<std::vector<std::string>, kRegions> tabs;
  std::array<std::string, kRegions> front;
  std::string maximized;  // the panel that fills the window, "" for none
  std::string focused;    // the panel that the keys go to

  bool operator==(const PanelLayout&) const = default;

  // Gives each of the panels that has no place yet one in its own region.
  void place(const std::vector<PanelPlace>&);
  bool contains(std::string_view title) const;
  Region region_of(std::string_view title) const;  // upper_left for one that has no place
  // Before tab `before` of the region, or behind its last one; in front of the others.
  void move(const std::string& title, Region, size_t before = size_t(-1));
  // In front of its region, focused; whatever else filled the window gives way.
  void show(const std::string& title);
  void toggle_maximized(const std::string& title);
};

// Layouts for a task: Write, Watch, Inspect.
constexpr std::array<const char*, 3> kPresets = {"Write", "Watch", "Inspect"};
const char* preset_help(std::string_view name);
// Panels that the preset does not name go to their own regions.
PanelLayout preset_layout(std::string_view name, const std::vector<PanelPlace>&);

}  // namespace lunagrad
