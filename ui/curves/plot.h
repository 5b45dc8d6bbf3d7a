#pragma once
// A chart of curves over one x axis: axes with round ticks, faint raw curves and strong smoothed ones, bands,
// event marks, a legend that hides curves, a crosshair with exact values, zoom and pan. Costs a few draw
// calls per pixel column, for any number of points. Knows curves, no sessions. Drawing thread only.
#include <imgui.h>

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ui/base/axis_scale.h"
#include "ui/base/curve.h"
#include "ui/curves/plot_frame.h"

namespace lunagrad {

// The state that several charts with a common x axis share.
struct PlotAxis {
  enum class Mode { fit, follow, fixed } mode = Mode::fit;
  AxisScale scale;
  std::string label = "step";
  double low = 0, high = 1;  // visible range
  double window = 200;       // length of the visible range in follow mode
  bool box = false;          // dragging zooms into a box instead of panning
  bool hovering = false;     // the mouse is over one of the charts, at x = hover
  double hover = 0;
  // Once a frame, with the extent of all data and the smallest positive x.
  void update(double first, double last, double least_positive);
  // About `count` ticks; whole numbers if x is the step.
  std::vector<double> ticks(int count) const;

  bool hovering_next = false;  // set while drawing, for all charts of the next frame
};

struct PlotLine {
  std::string name;
  const Curve* raw = nullptr;
  const Curve* smooth = nullptr;                          // null: the raw curve at full strength
  const Curve *band_low = nullptr, *band_high = nullptr;  // null: no band
  ImU32 color = 0;
  int dash = 0;  // 0 solid, 1 dashed, 2 dotted, 3 long and short: distinguishes lines in addition to colour
};

struct PlotMark {
  double x = 0;
  std::string kind;   // "edit": the label of the mark, or its capital initial where space is short
  std::string brief;  // "lr 0.05": the label where there is space for more; may be empty
  ImU32 color = 0;
  std::string text;  // the full description
};
// The possible labels for marks at one place, the longest first: "lr 0.05", "edit", "E"; for several "2
// edits, 1 pause", "3 marks", "3".
std::vector<std::string> mark_labels(std::span<const PlotMark* const>);

struct PlotColors {
  ImU32 background, grid, text, muted, crosshair, alarm, popup, accent;
};

// The state of one chart.
struct PlotState {
  AxisScale::Kind y = AxisScale::Kind::linear;
  bool y_fixed = false;  // false: the y range fits all visible values
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
  ImVec2 min, max;  // of the data area
  std::vector<Item> legend, marks;
  std::optional<double> clicked;  // x of a click that moved nothing; set once it cannot become a double click
  std::string scales;             // "x linear 0 to 99, y log 0.1 to 2"
};

// Draws a chart of this size. `labelled`: the x axis has numbers.
PlotShown draw_plot(const char* id, const char* title, const std::vector<PlotLine>&,
                    const std::vector<PlotMark>&, bool labelled, ImVec2 size, PlotAxis&, PlotState&,
                    const PlotColors&);

// Cuts a polyline into dashes by its length on the screen.
void draw_dashed(ImDrawList*, const std::vector<ImVec2>&, ImU32 color, float width, int dash);
// Lengths of dash and gap, two of each, in pixels at scale 1; null for a solid line.
const float* dash_pattern(int dash);

// The number with just enough digits to differ from its neighbours at that step.
std::string axis_number(double value, double step);
// The lines that are not hidden, with the y scale and range that the chart uses; an export draws the same.
std::vector<PlotLine> shown_lines(const std::vector<PlotLine>&, const PlotState&);
struct PlotRange {
  AxisScale scale;
  double low, high;
};
PlotRange y_range(const std::vector<PlotLine>& shown, const PlotAxis&, const PlotState&);

}  // namespace lunagrad
