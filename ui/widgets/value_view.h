#pragma once
// How numbers of tensors are written and coloured: shapes, short and long figures, ranges of colours with
// their legend, and histograms. Knows numbers, nothing of sessions. Drawing thread only, but for what takes
// no ImGui type.
#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>

#include "runtime/statistics/statistics.h"

namespace lunagrad {

// "[64, 10]", "[]" for a scalar.
std::string shape_text(std::span<const int64_t> shape);
std::string short_number(double value);                  // four digits
std::string position_text(std::span<const int64_t> at);  // of positions from 0: "[1, 3]" as Lua counts

struct ValueColors {
  ImU32 background, border, text, muted;
  ImU32 nan, infinite;  // each has a pattern of its own, too
  ImU32 accent;
  bool dark;
};

// How values become colours, as a user sets it.
struct ColorScale {
  enum class Map { automatic, sequential, diverging };
  bool automatic = true;  // the range of the values; else low to high
  double low = 0, high = 1;
  Map map = Map::automatic;  // automatic: diverging when there are values of both signs
  bool logarithmic = false;
  double clip = 0;  // per cent of the values at each end that share the last colour
  bool operator==(const ColorScale&) const = default;
};

// The same for certain values.
struct ColorRange {
  double low = 0, high = 1;
  bool diverging = false;   // around 0
  double linear_below = 0;  // of a logarithmic one: magnitudes below it are shown linearly; 0: it is linear
  bool operator==(const ColorRange&) const = default;
};
ColorRange color_range(const ColorScale&, const Statistics&);
// Where a finite value lies: 0 for low and all below, 1 for high and all above.
double color_position(double value, const ColorRange&);
// Of a position: viridis, or blue through a neutral middle to orange.
ImU32 map_color(double position, bool diverging, bool dark);
// The value below which `part` of the finite ones lie, right to a bin of the histogram.
double quantile(const Statistics&, double part);

// One line: least value, colour bar, greatest value.
void draw_color_legend(const ColorRange&, float width, const ValueColors&);
// Bars over the bins of the statistics, which grow as the values do; says under the mouse what a bar stands
// for.
void draw_histogram(const char* id, const Statistics&, ImVec2 size, const ValueColors&);
// Marks a cell that holds no finite number by a pattern: NaN is crossed, infinities are struck through,
// upwards for +.
void draw_not_finite(ImDrawList*, double value, ImVec2 min, ImVec2 max, const ValueColors&);

}  // namespace lunagrad
