#pragma once
// A chart of curves over one x axis: axes with round ticks, raw curves ghosted behind smoothed ones, bands,
// marks of what happened, a legend that hides curves, a crosshair with exact values, zoom and pan. Costs a
// few draw calls per pixel column, whatever the number of points. Knows curves, nothing of sessions.
#include <imgui.h>

#include <set>
#include <span>
#include <string>
#include <vector>

#include "ui/base/axis_scale.h"
#include "ui/base/curve.h"
#include "ui/curves/plot_frame.h"

namespace lunagrad {

// What several charts with a common x axis share.
struct PlotAxis {
  enum class Mode { fit, follow, fixed } mode = Mode::fit;
  AxisScale scale;
  std::string label = "step";
  double low = 0, high = 1;  // shown
  double window = 200;       // shown behind the last point, in follow
  bool box = false;          // dragging draws a box to zoom into, instead of moving what is shown
  bool hovering = false;     // the mouse rests on one of the charts, at x = hover
  double hover = 0;
  // Once a frame, with the extent of all data and the smallest x above 0.
  void update(double first, double last, double least_positive);

  bool hovering_next = false;  // found while drawing, for all charts of the next frame
};

struct PlotLine {
  std::string name;
  const Curve* raw = nullptr;
  const Curve* smooth = nullptr;                          // null: the raw curve at full strength
  const Curve *band_low = nullptr, *band_high = nullptr;  // null: no band
  ImU32 color = 0;
  int dash = 0;  // 0 solid, 1 dashed, 2 dotted, 3 long and short: a second sign beside colour
};

struct PlotMark {
  double x = 0;
  std::string
      kind;  // "edit": written at the mark, its first letter in capitals where there is no room for it
  std::string brief;  // "lr 0.05", what is written where there is room for more; may be empty
  ImU32 color = 0;
  std::string text;  // all there is to say
};
// What may be written at a place for those of its marks, the longest first: "lr 0.05", "edit", "E"; of
// several "2 edits, 1 pause", "3 marks", "3".
std::vector<std::string> mark_labels(std::span<const PlotMark* const>);

struct PlotColors {
  ImU32 background, grid, text, muted, crosshair, alarm, popup, accent;
};

// Of one chart.
struct PlotState {
  AxisScale::Kind y = AxisScale::Kind::linear;
  bool y_fixed = false;  // else all visible values fit
  double y_low = 0, y_high = 1;
  std::set<std::string> hidden;  // names of lines
  bool boxing = false;
  ImVec2 box_from{};
};

// What was drawn where, for a text mirror of the chart.
struct PlotShown {
  struct Item {
    std::string text;
    ImVec2 min, max;
  };
  ImVec2 min, max;  // of the area of the data
  std::vector<Item> legend, marks;
  std::string scales;  // "x linear 0 to 99, y log 0.1 to 2"
};

// Draws a chart of `size`. `labelled`: the x axis has numbers.
PlotShown draw_plot(const char* id, const char* title, const std::vector<PlotLine>&,
                    const std::vector<PlotMark>&, bool labelled, ImVec2 size, PlotAxis&, PlotState&,
                    const PlotColors&);

// Cuts a polyline into dashes by its length on the screen.
void draw_dashed(ImDrawList*, const std::vector<ImVec2>&, ImU32 color, float width, int dash);
// Lengths of dash and gap, two of each, in pixels at scale 1; null for a solid line.
const float* dash_pattern(int dash);

// As few digits as tell the number from its neighbours at that resolution.
std::string axis_number(double value, double step);
std::string exact_number(double value);
// The lines that are not hidden, and the y scale and range that they get: what an export draws, too.
std::vector<PlotLine> shown_lines(const std::vector<PlotLine>&, const PlotState&);
struct PlotRange {
  AxisScale scale;
  double low, high;
};
PlotRange y_range(const std::vector<PlotLine>& shown, const PlotAxis&, const PlotState&);

}  // namespace lunagrad
