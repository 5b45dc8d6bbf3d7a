#pragma once
// A chart of curves over one x axis: axes with round ticks, thin raw curves and bold smoothed ones, bands,
// event marks, a legend that hides curves, a crosshair with exact values, zoom and pan. Costs a few draw
// calls per pixel column, for any number of points. Knows curves, no sessions. Drawing thread only.
#include <imgui.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ui/base/axis_scale.h"
#include "ui/curves/plot_data.h"

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
  std::optional<ChartCursor> cursor;  // set by the caller
  // Once a frame, with the extent of all data and the smallest positive x.
  void update(double first, double last, double least_positive);
  // About `count` ticks; whole numbers if x is the step.
  std::vector<double> ticks(int count) const;

  bool hovering_next = false;  // set while drawing, for all charts of the next frame
};

// The possible labels for marks at one place, the longest first: "lr 0.05", "edit", "E"; for several "2
// edits, 1 pause", "3 marks", "3".
std::vector<std::string> mark_labels(std::span<const PlotMark* const>);

// Draws a chart of this size. `labelled`: the x axis has numbers.
PlotShown draw_plot(const char* id, const char* title, const std::vector<PlotLine>&,
                    const std::vector<PlotMark>&, bool labelled, ImVec2 size, PlotAxis&, PlotState&,
                    const PlotColors&);

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
