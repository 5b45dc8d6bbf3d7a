#pragma once
// A tensor's cells as a heatmap with its range, a colour bar and the index and value under the mouse, and its
// statistics as a line of figures. The last dim runs to the right, the one before downwards; the others are
// chosen. Knows numbers and shapes, nothing of sessions.
#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lunagrad {

struct CellGrid {
  std::vector<int64_t> shape;
  std::span<const float> values;  // row-major from the start; may end early
  int64_t count = 0;              // of all cells
  double min = 0, max = 0;        // over the finite ones
};

struct HeatmapColors {
  ImU32 background, border, text, muted, bad;  // bad: NaN and infinity
  bool dark;
};

class Heatmap {
 public:
  // Fills the width, at most `height`; small tensors take less.
  void draw(const char* id, const CellGrid&, float width, float height, const HeatmapColors&);

 private:
  std::vector<int> chosen_;  // position in each dim before the last two
};

// Blue through a neutral middle to orange for values around zero, viridis for values of one sign.
ImU32 heat_color(double value, double min, double max, bool dark);
// "[64, 10]", "[]" for a scalar.
std::string shape_text(std::span<const int64_t> shape);
std::string short_number(double value);  // four digits

}  // namespace lunagrad
