#include "ui/base/parallel.h"

#include <algorithm>

namespace lunagrad {
namespace {

// The distance of the point p from the segment between a and b.
double distance(double px, double py, double ax, double ay, double bx, double by) {
  const double dx = bx - ax, dy = by - ay;
  const double along = std::clamp(((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
  return std::hypot(px - ax - along * dx, py - ay - along * dy);
}

}  // namespace

std::optional<size_t> nearest_line(const ParallelPlot& plot, double x, double y, double width, double height,
                                   double reach) {
  std::optional<size_t> nearest;
  const auto last = double(plot.axes.size()) - 1;
  if (last < 1) return nearest;
  const auto left = size_t(std::clamp(std::floor(x), 0.0, last - 1));
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    const std::vector<double>& places = plot.lines[i].places;
    const double far = distance(x * width, y * height, double(left) * width, places[left] * height,
                                double(left + 1) * width, places[left + 1] * height);
    if (!(far <= reach)) continue;  // also false where a value is missing (NaN)
    reach = far;
    nearest = i;
  }
  return nearest;
}

}  // namespace lunagrad
