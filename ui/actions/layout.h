#pragma once
// Where the panels are: four regions with tabs, the positions of their splitters, the front tab of each
// region, and the panel that fills the window, if any. Panels are identified by title, so that a saved layout
// stays valid when panels are added or removed. Pure; any thread.
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

enum class Region { upper_left, lower_left, upper_right, lower_right };
constexpr size_t kRegions = 4;
constexpr std::array<const char*, kRegions> kRegionNames = {"upper left", "lower left", "upper right",
                                                            "lower right"};

// A panel and its default region.
struct PanelPlace {
  std::string title;
  Region region;
};

struct PanelLayout {
  // The left column's fraction of the width, and the upper region's fraction of the height in each column.
  float columns = 0.45f, left_rows = 0.64f, right_rows = 0.54f;
  std::array<std::vector<std::string>, kRegions> tabs;
  std::array<std::string, kRegions> front;
  std::string maximized;  // the panel that fills the window, "" for none
  std::string focused;    // the panel that gets the keys

  bool operator==(const PanelLayout&) const = default;

  // Adds each panel that the layout does not contain to its default region.
  void place(const std::vector<PanelPlace>&);
  bool contains(std::string_view title) const;
  Region region_of(std::string_view title) const;  // upper_left for a panel that the layout does not contain
  // Moves the panel before tab `before` of the region, or after its last tab, and brings it to the front.
  void move(const std::string& title, Region, size_t before = size_t(-1));
  // Brings the panel to the front of its region and focuses it; it replaces another panel that fills the
  // window.
  void show(const std::string& title);
  // Brings the panel to the front of its region without the focus, unless that would hide panel `beside`.
  void raise(const std::string& title, const std::string& beside);
  void toggle_maximized(const std::string& title);
};

// Layouts for a task: Write, Watch, Inspect.
constexpr std::array<const char*, 3> kPresets = {"Write", "Watch", "Inspect"};
const char* preset_help(std::string_view name);
// Panels that the preset does not name go to their default regions.
PanelLayout preset_layout(std::string_view name, const std::vector<PanelPlace>&);

}  // namespace lunagrad
