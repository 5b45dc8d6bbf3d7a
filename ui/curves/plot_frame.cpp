#include "ui/curves/plot_frame.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lunagrad {

PlotFrame::PlotFrame(ImVec2 min_, ImVec2 max_, AxisScale x_, double x0_, double x1_, AxisScale y_, double y0_,
                     double y1_)
    : min(min_), max(max_), x(x_), y(y_), x0(x0_), x1(x1_), y0(y0_), y1(y1_) {
  left_ = x.forward(x0);
  right_ = x.forward(x1);
  bottom_ = y.forward(y0);
  top_ = y.forward(y1);
}

float PlotFrame::px(double value) const {
  const double t = (x.forward(value) - left_) / (right_ - left_);
  return min.x + float(std::clamp(t, -2.0, 3.0)) * width();
}

float PlotFrame::py(double value) const {
  const double t = (y.forward(value) - bottom_) / (top_ - bottom_);
  return max.y - float(std::clamp(t, -2.0, 3.0)) * height();
}

double PlotFrame::x_at(float px) const {
  return x.inverse(left_ + (right_ - left_) * double(px - min.x) / double(width()));
}

double PlotFrame::y_at(float py) const {
  return y.inverse(bottom_ + (top_ - bottom_) * double(max.y - py) / double(height()));
}

namespace {

// The block to which column ends are rounded: at most an eighth of a column. With whole blocks only a
// fraction of the memory is read.
size_t block_for(size_t points, const PlotFrame& frame) {
  size_t block = 1;
  while (double(block * Curve::kFan) * 8 * double(frame.width()) <= double(points)) block *= Curve::kFan;
  return block;
}

}  // namespace

void trace(const Curve& curve, const PlotFrame& frame,
           const std::function<void(const std::vector<ImVec2>&)>& stretch, double most_apart) {
  size_t begin = curve.lower_bound(frame.x0), end = curve.lower_bound(frame.x1);
  begin -= begin > 0;
  end = std::min(end + 1, curve.size());
  std::vector<ImVec2> points;
  const auto flush = [&] {
    if (!points.empty()) stretch(points);
    points.clear();
  };
  // Ends the stretch if nothing is known between entry i and the entry before it.
  const auto leave_gap = [&](size_t i) {
    if (most_apart <= 0 || i == 0 || points.empty()) return;
    const double from = curve.x(i - 1), to = curve.first_x(i);
    if (frame.px(to) - frame.px(from) > 2 && to - from > most_apart * usual_distance(curve, i)) flush();
  };
  const auto column = [&](float px, const CurveRange& range) {
    const double low = frame.y.kind == AxisScale::Kind::log ? range.least_positive : range.min;
    if (!range.empty() && frame.y.shows(low) && frame.y.shows(range.max)) {
      const float top = frame.py(range.max), bottom = frame.py(low);
      // The extreme nearer to the previous point comes first.
      const bool rising = points.empty() || points.back().y > (top + bottom) / 2;
      points.push_back({px, rising ? bottom : top});
      if (bottom - top > 0.5f) points.push_back({px, rising ? top : bottom});
    } else {
      flush();
    }
  };
  if (end - begin <= size_t(std::max(2 * frame.width(), 2.0f))) {
    for (size_t i = begin; i < end; ++i) {
      leave_gap(i);
      if (i < curve.merged())
        column(frame.px((curve.first_x(i) + curve.x(i)) / 2), curve.bucket(i).range);
      else if (frame.shows(curve.x(i), curve.y(i)))
        points.push_back({frame.px(curve.x(i)), frame.py(curve.y(i))});
      else
        flush();
    }
  } else {
    const size_t block = block_for(end - begin, frame);
    size_t per_column = 0;
    for (float px = frame.min.x; px < frame.max.x; px += 1) {
      size_t next = std::min(curve.lower_bound(frame.x_at(px + 1), begin + per_column), end);
      if (next < end) next -= next % block;
      if (next <= begin) continue;
      per_column = next - begin;
      leave_gap(begin);
      column(px, curve.range(begin, next));
      begin = next;
    }
  }
  flush();
}

double usual_distance(const Curve& curve, size_t i) {
  constexpr size_t kReach = 3;
  std::array<double, 2 * kReach> around;
  size_t count = 0;
  for (size_t k = std::max<size_t>(i, kReach + 1) - kReach; k <= i + kReach && k < curve.size(); ++k)
    if (k != i) around[count++] = curve.first_x(k) - curve.x(k - 1);
  if (count == 0) return 0;
  const auto middle = around.begin() + (count - 1) / 2;
  std::nth_element(around.begin(), middle, around.begin() + count);
  return *middle;
}

float dot_radius(size_t samples, float width, float largest) {
  const float each = width / float(std::max<size_t>(samples, 1));
  return each >= 4 * largest ? largest : 0;
}

std::vector<BandColumn> trace_band(const Curve& low, const Curve& high, const PlotFrame& frame) {
  std::vector<BandColumn> columns;
  size_t begin = low.lower_bound(frame.x0), end = low.lower_bound(frame.x1);
  begin -= begin > 0;
  end = std::min({end + 1, low.size(), high.size()});
  const auto add = [&](float px, double bottom, double top) {
    if (!frame.y.shows(top)) return;
    // On a logarithmic axis a band that reaches below 0 extends to the edge.
    columns.push_back({px, frame.py(top), frame.y.shows(bottom) ? frame.py(bottom) : frame.max.y});
  };
  if (end - begin <= size_t(std::max(2 * frame.width(), 2.0f))) {
    for (size_t i = begin; i < end; ++i)
      if (frame.x.shows(low.x(i))) add(frame.px(low.x(i)), low.y(i), high.y(i));
  } else {
    for (float px = frame.min.x; px < frame.max.x; px += 1) {
      const size_t next = std::min(low.lower_bound(frame.x_at(px + 1), begin), end);
      if (next <= begin) continue;
      add(px, low.range(begin, next).min, high.range(begin, next).max);
      begin = next;
    }
  }
  return columns;
}

void flatten_tips(const std::vector<ImVec2>& points, std::vector<ImVec2>& made) {
  made.clear();
  for (size_t i = 0; i < points.size(); ++i) {
    const ImVec2 at = points[i];
    if (i > 0 && i + 1 < points.size()) {
      const ImVec2 in{at.x - points[i - 1].x, at.y - points[i - 1].y},
          out{points[i + 1].x - at.x, points[i + 1].y - at.y};
      const float left = std::min(0.5f, in.x / 2), right = std::min(0.5f, out.x / 2);
      if (in.x * out.x + in.y * out.y < 0 && left + right > 0.01f) {
        made.push_back({at.x - left, at.y});
        made.push_back({at.x + right, at.y});
        continue;
      }
    }
    made.push_back(at);
  }
}

namespace {

ValueSpan padded(const CurveRange& range, const AxisScale& scale, size_t points) {
  constexpr size_t kFew = 8;
  const bool log = scale.kind == AxisScale::Kind::log;
  double low = log ? range.least_positive : range.min, high = range.max;
  if (!(high >= low) || !std::isfinite(low) || !std::isfinite(high))
    return log ? ValueSpan{0.1, 1} : ValueSpan{0, 1};
  if (scale.kind == AxisScale::Kind::linear) {
    double margin = (high - low) * 0.06;
    if (points < kFew)
      margin = std::max(margin, (0.1 * std::max(std::abs(low), std::abs(high)) - (high - low)) / 2);
    if (!(margin > 0)) margin = low == 0 ? 0.5 : std::abs(low) * 0.05;
    return {low - margin, high + margin};
  }
  const double bottom = scale.forward(low), top = scale.forward(high),
               margin = std::max((top - bottom) * 0.06, 0.01);
  return {scale.inverse(bottom - margin), scale.inverse(top + margin)};
}

}  // namespace

ValueSpan with_margin(const CurveRange& range, const AxisScale& scale, size_t points) {
  const ValueSpan span = padded(range, scale, points);
  const ValueBounds bounds = natural_bounds(range);
  return {std::max(span.low, bounds.low), std::min(span.high, bounds.high)};
}

}  // namespace lunagrad
