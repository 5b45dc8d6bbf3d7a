#pragma once
// Where a chart's values lie on a surface, screen or picture, and the polyline of a curve on it: at most two
// points a pixel column however many values the curve has, each column's smallest and largest among them, so
// that no spike is lost. Pure geometry.
#include <imgui.h>

#include <functional>
#include <vector>

#include "ui/base/axis_scale.h"
#include "ui/base/curve.h"

namespace lunagrad {

class PlotFrame {
 public:
  // The rectangle in pixels, y downwards, and the values at its edges.
  PlotFrame(ImVec2 min, ImVec2 max, AxisScale x, double x0, double x1, AxisScale y, double y0, double y1);

  ImVec2 min, max;
  AxisScale x, y;
  double x0, x1, y0, y1;

  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
  float px(double value) const;
  float py(double value) const;  // held near the rectangle, so that a far value cannot overflow
  double x_at(float px) const;
  double y_at(float py) const;
  bool shows(double vx, double vy) const { return x.shows(vx) && y.shows(vy); }

 private:
  double left_, right_, bottom_, top_;  // the edges as the scales see them
};

// Calls `stretch` for each part of the curve without a gap. What cannot be shown (NaN, infinity, not positive
// on a logarithmic axis) makes one.
void trace(const Curve&, const PlotFrame&, const std::function<void(const std::vector<ImVec2>&)>& stretch);
// The values between two curves with the same x, column by column: x, upper and lower edge.
struct BandColumn {
  float x, top, bottom;
};
std::vector<BandColumn> trace_band(const Curve& low, const Curve& high, const PlotFrame&);

// Values around all of these, with a margin; 0 to 1 when there is nothing to show. Of a curve of few points
// every difference would fill the chart: on a linear axis they get at least a tenth of their size.
struct ValueSpan {
  double low, high;
};
ValueSpan with_margin(const CurveRange&, const AxisScale&, size_t points);

}  // namespace lunagrad
