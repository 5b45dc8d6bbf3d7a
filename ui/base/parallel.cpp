#include "ui/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace lunagrad {
namespace {

// The distance of the point p from the segment between a and b.
double distance(double px, double py, double ax, double ay, double bx, double by) {
  const double dx = bx - ax, dy = by - ay;
  const double along = std::clamp(((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
  return std::hypot(px - ax - along * dx, py - ay - along * dy);
}

double word_place(const ParallelAxis& axis, size_t word) {
  return axis.words.size() < 2 ? 0.5 : double(word) / double(axis.words.size() - 1);
}

bool logarithmic(const ParallelAxis& axis) { return axis.about == "logarithmic"; }

double number_at(const ParallelAxis& axis, double place) {
  return logarithmic(axis) ? axis.least * std::pow(axis.most / axis.least, place)
                           : axis.least + place * (axis.most - axis.least);
}

double number_place(const ParallelAxis& axis, double number) {
  return logarithmic(axis) ? std::log(number / axis.least) / std::log(axis.most / axis.least)
                           : (number - axis.least) / (axis.most - axis.least);
}

}  // namespace

AxisRange range_between(const ParallelAxis& axis, double low, double high) {
  AxisRange range;
  range.of_words = !axis.words.empty();
  for (size_t i = 0; i < axis.words.size(); ++i)
    if (const double place = word_place(axis, i); place >= low && place <= high)
      range.words.insert(axis.words[i]);
  if (range.of_words) return range;
  if (axis.least == axis.most) {  // the only number is in the middle
    if (low > 0.5 || high < 0.5) std::swap(range.low, range.high);
    return range;
  }
  if (low > 0) range.low = number_at(axis, low);
  if (high < 1) range.high = number_at(axis, high);
  return range;
}

std::optional<std::pair<double, double>> places_of(const ParallelAxis& axis, const AxisRange& range) {
  double low = 1, high = 0;
  for (size_t i = 0; i < axis.words.size(); ++i)
    if (range.selects(axis.words[i])) {
      low = std::min(low, word_place(axis, i));
      high = std::max(high, word_place(axis, i));
    }
  if (axis.words.empty() && axis.least < axis.most) {
    low = range.low <= axis.least ? 0 : number_place(axis, range.low);
    high = range.high >= axis.most ? 1 : number_place(axis, range.high);
  } else if (axis.words.empty() && range.selects(axis.least)) {
    low = 0, high = 1;
  }
  low = std::max(low, 0.0);
  high = std::min(high, 1.0);
  if (!(low <= high)) return std::nullopt;
  return std::pair(low, high);
}

std::optional<size_t> nearest_line(const ParallelPlot& plot, double x, double y, double width, double height,
                                   double reach) {
  std::optional<size_t> nearest;
  const auto last = double(plot.axes.size()) - 1;
  if (last < 1) return nearest;
  const auto left = size_t(std::clamp(std::floor(x), 0.0, last - 1));
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    if (plot.lines[i].out) continue;
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
