#pragma once
// Maps a chart's values to pixels of the screen or of a picture, and makes the polyline of a curve: at most
// two points per pixel column for any number of values, always with the minimum and maximum of the column, so
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
  float py(double value) const;  // clamped near the rectangle, so that a far value cannot overflow
  double x_at(float px) const;
  double y_at(float py) const;
  bool shows(double vx, double vy) const { return x.shows(vx) && y.shows(vy); }

 private:
  double left_, right_, bottom_, top_;  // the edges, mapped by the scales
};

// Calls `stretch` for each part of the curve without a gap. Values that cannot be shown (NaN, infinity, not
// positive on a logarithmic axis) make a gap. So do neighbours whose distance in x is more than two pixels
// and more than `most_apart` times usual_distance(); 0: only the former.
void trace(const Curve&, const PlotFrame&, const std::function<void(const std::vector<ImVec2>&)>& stretch,
           double most_apart = 0);
// The distance of samples around entry i and the entry before it: the lower median of up to three distances
// on each side. 0 if the curve has no others.
double usual_distance(const Curve&, size_t i);
// The radius of a dot for each of so many samples in a chart of this width; 0 if they would touch.
float dot_radius(size_t samples, float width, float largest);
// The area between two curves with the same x, by pixel column: x, upper and lower edge.
struct BandColumn {
  float x, top, bottom;
};
std::vector<BandColumn> trace_band(const Curve& low, const Curve& high, const PlotFrame&);

// The same line with each tip that is sharper than a right angle cut flat, at most a pixel wide, at the
// height of its point. Dear ImGui mitres corners: a sharp tip would end several pixels beyond its value, or,
// where the line returns on itself, be as thin as nothing.
void flatten_tips(const std::vector<ImVec2>& points, std::vector<ImVec2>& made);

// The range of all given values, with a margin that crosses no natural bound of theirs; 0 to 1 when there is
// nothing to show. On a linear axis the range is at least a tenth of the values' magnitude, so that tiny
// differences do not fill the chart.
struct ValueSpan {
  double low, high;
};
ValueSpan with_margin(const CurveRange&, const AxisScale&, size_t points);

}  // namespace lunagrad
