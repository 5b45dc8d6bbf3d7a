#pragma once
// Text and colours for numbers of tensors: shapes, positions, colour ranges with their legend, and
// histograms. Knows numbers, no sessions. Drawing thread only, except functions without ImGui types.
#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>

#include "runtime/statistics/statistics.h"

namespace lunagrad {

// "[64, 10]", "[]" for a scalar.
std::string shape_text(std::span<const int64_t> shape);  // "[64, 10]"; "scalar" without dimensions
std::string position_text(std::span<const int64_t> at);  // `at` counts from 0, the text from 1: "[1, 3]"

struct ValueColors {
  ImU32 background, border, text, muted;
  ImU32 nan, infinite;  // each also has its own pattern
  ImU32 accent;
  bool dark;
};

// The user's settings for mapping values to colours.
struct ColorScale {
  enum class Map { automatic, sequential, diverging };
  bool automatic = true;  // true: uses the range of the values; false: from low to high
  double low = 0, high = 1;
  Map map = Map::automatic;  // automatic: diverging if there are values of both signs
  bool logarithmic = false;
  double clip = 0;  // percent of the values at each end that get the end colour
  bool operator==(const ColorScale&) const = default;
};

// The colour scale for given values.
struct ColorRange {
  double low = 0, high = 1;
  bool diverging = false;  // the colours diverge around 0
  bool zeros = false;      // there are zeros, which the colours of one sign do not show: they have their own
  double linear_below =
      0;  // for a logarithmic range: linear below this magnitude; 0: the whole range is linear
  bool operator==(const ColorRange&) const = default;
};
ColorRange color_range(const ColorScale&, const Statistics&);
// The position of a finite value: 0 for `low` and below, 1 for `high` and above.
double color_position(double value, const ColorRange&);
// The colour of zeros beside viridis: a grey, which that map does not contain.
ImU32 zero_color(bool dark);
// The colour of a position: viridis, or blue through a neutral middle to orange.
ImU32 map_color(double position, bool diverging, bool dark);
// The value below which the fraction `part` of the finite values lies, exact to a bin of the histogram.
double quantile(const Statistics&, double part);

// One line: minimum, colour bar, maximum, and the colour of zeros if they have their own.
void draw_color_legend(const ColorRange&, float width, const ValueColors&);
// A histogram with the statistics' bins, whose widths grow with magnitude; the tooltip describes the bar
// under the mouse.
void draw_histogram(const char* id, const Statistics&, ImVec2 size, const ValueColors&);
// Marks a cell without a finite number by a pattern: a cross for NaN, a stroke for infinities, rising for +.
void draw_not_finite(ImDrawList*, double value, ImVec2 min, ImVec2 max, const ValueColors&);

}  // namespace lunagrad
