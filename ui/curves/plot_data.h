#pragma once
// The data that a chart is drawn from, keeps between frames and returns: lines, marks, colours, state. Plain
// values, owned by the caller; a line points to the caller's curves. Drawing thread only.
#include <imgui.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ui/base/axis_scale.h"
#include "ui/base/curve.h"

namespace lunagrad {

// The strength of a raw curve under its smoothed one: a peak of a single step exists only in the raw curve.
inline constexpr float kRawStrength = 0.6f;
// `most_apart` of curves of sampled steps: intervals of one rate of measuring meet, also if they vary a
// little.
inline constexpr double kSampleReach = 2;

struct PlotLine {
  std::string name;
  const Curve* raw = nullptr;
  const Curve* smooth = nullptr;                          // null: the raw curve at full strength
  const Curve *band_low = nullptr, *band_high = nullptr;  // null: no band
  ImU32 color = 0;
  int dash = 0;  // 0 solid, 1 dashed, 2 dotted, 3 long and short: distinguishes lines in addition to colour
  // For a curve of samples: points that are more than this many times farther apart in x than the samples
  // around them are not joined, since nothing is known between them. 0: all points are joined.
  double most_apart = 0;
};

// The step that the window shows, as a vertical line on every chart. At a past step the legends have the
// values of that step.
struct ChartCursor {
  double x = 0;
  ImU32 color = 0;
  bool past = false;
};

struct PlotMark {
  double x = 0;
  std::string kind;   // "edit": the label of the mark, or its capital initial where space is short
  std::string brief;  // "lr 0.05": the label where there is space for more; may be empty
  ImU32 color = 0;
  std::string text;  // the full description
};

struct PlotColors {
  ImU32 background, grid, text, muted, crosshair, alarm, popup, accent;
};

// The state of one chart.
struct PlotState {
  AxisScale::Kind y = AxisScale::Kind::linear;
  bool automatic = false;  // nobody chose y: the chart says so unless it is linear
  AxisScale::Kind automatic_y = AxisScale::Kind::linear;  // what the chart chooses by itself
  bool y_fixed = false;                                   // false: the y range fits all visible values
  double y_low = 0, y_high = 1;
  std::set<std::string> hidden;  // names of lines
  bool boxing = false;
  ImVec2 box_from{};
  std::optional<double> clicked;  // x of a click that may become a double click
  double clicked_at = 0;          // ImGui's time
};

// What was drawn where, for the description of the frame.
struct PlotShown {
  struct Item {
    std::string text;
    ImVec2 min, max;
  };
  ImVec2 min, max;              // of the data area
  std::optional<float> cursor;  // x of its line in pixels, if it is visible
  std::vector<Item> legend, marks;
  std::optional<double> clicked;  // x of a click that moved nothing; set once it cannot become a double click
  std::string scales;  // "x linear 0 to 99, y log 0.1 to 2", and ", automatic" if the user chose no y
};

}  // namespace lunagrad
