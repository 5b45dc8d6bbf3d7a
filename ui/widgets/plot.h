#pragma once
// A chart of curves over one x axis: axes with round ticks, raw curves ghosted behind smoothed ones, a
// crosshair with exact values, zoom and pan. Costs a few draw calls per pixel column, whatever the number of
// points. Knows curves, nothing of sessions.
#include <imgui.h>

#include <functional>
#include <string>
#include <vector>

#include "ui/widgets/curve.h"

namespace lunagrad {

// What several charts with a common x axis share.
struct PlotAxis {
  enum class Mode { fit, follow, fixed } mode = Mode::fit;
  double low = 0, high = 1;  // shown
  double window = 200;       // shown behind the last point, in follow
  bool hovering = false;     // the mouse rests on one of the charts, at x = hover
  double hover = 0;
  void update(double first, double last);  // once a frame, with the extent of all data
};

struct PlotLine {
  std::string name;
  const Curve* raw = nullptr;
  const Curve* smooth = nullptr;  // null: the raw curve at full strength
  ImU32 color = 0;
  int dash = 0;  // 0 solid, 1 dashed, 2 dotted, 3 long and short: a second sign beside colour
};

struct PlotColors {
  ImU32 background, grid, text, muted, crosshair, alarm, popup, border;
};

struct PlotState {
  bool log_y = false;
};

// Draws a chart of `size`. `x_label` may be empty: then the x axis has ticks without numbers.
void draw_plot(const char* id, const char* title, const std::vector<PlotLine>&, const char* x_label,
               ImVec2 size, PlotAxis&, PlotState&, const PlotColors&);

// As few digits as tell the number from its neighbours at that resolution.
std::string axis_number(double value, double step);
std::string exact_number(double value);

}  // namespace lunagrad
