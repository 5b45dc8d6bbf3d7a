#include "ui/base/axis_scale.h"

#include <algorithm>

namespace lunagrad {

double AxisScale::forward(double value) const {
  switch (kind) {
    case Kind::log:
      return std::log10(value);
    case Kind::symlog:
      return std::copysign(std::log10(1 + std::abs(value) / threshold), value);
    case Kind::linear:
      break;
  }
  return value;
}

double AxisScale::inverse(double place) const {
  switch (kind) {
    case Kind::log:
      return std::pow(10.0, place);
    case Kind::symlog:
      return std::copysign(threshold * (std::pow(10.0, std::abs(place)) - 1), place);
    case Kind::linear:
      break;
  }
  return place;
}

const char* name_of(AxisScale::Kind kind) {
  switch (kind) {
    case AxisScale::Kind::log:
      return "log";
    case AxisScale::Kind::symlog:
      return "symlog";
    case AxisScale::Kind::linear:
      break;
  }
  return "linear";
}

AxisScale::Kind next(AxisScale::Kind kind) {
  switch (kind) {
    case AxisScale::Kind::linear:
      return AxisScale::Kind::log;
    case AxisScale::Kind::log:
      return AxisScale::Kind::symlog;
    case AxisScale::Kind::symlog:
      break;
  }
  return AxisScale::Kind::linear;
}

double symlog_threshold(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::pow(10.0, std::floor(std::log10(largest)) - 4);
}

std::vector<double> axis_ticks(double low, double high, int count) {
  std::vector<double> ticks;
  if (!(high > low) || count < 1) return ticks;
  const double rough = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  // A single label would not show the scale.
  if (std::floor(high / step + 1e-9) - std::ceil(low / step - 1e-9) < 1)
    step *= step > 4.5 * power && step < 5.5 * power ? 0.4 : 0.5;
  // The counter also ends the loop where doubles are so coarse that k + 1 == k.
  for (double k = std::ceil(low / step - 1e-9);
       k * step <= high + step * 1e-9 && ticks.size() <= size_t(count); ++k)
    ticks.push_back(k * step);
  return ticks;
}

std::vector<double> log_axis_ticks(double low, double high, int count) {
  std::vector<double> ticks;
  if (!(low > 0) || !(high > low)) return ticks;
  const int first = int(std::floor(std::log10(low))), last = int(std::ceil(std::log10(high)));
  const int every = std::max(1, (last - first) / std::max(count, 1));
  const auto add = [&](double value) {
    if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push_back(value);
  };
  for (int e = first; e <= last; e += every) {
    const double power = std::pow(10.0, e);
    add(power);
    if (every == 1 && (last - first) * 3 <= count + 3) {
      add(2 * power);
      add(5 * power);
    }
  }
  if (ticks.size() < 2) return axis_ticks(low, high, count);
  return ticks;
}

std::vector<double> symlog_axis_ticks(double threshold, double low, double high, int count) {
  std::vector<double> ticks;
  if (!(threshold > 0) || !(high > low)) return ticks;
  const double largest = std::max(std::abs(low), std::abs(high));
  if (largest <= 2 * threshold) return axis_ticks(low, high, count);
  const int first = int(std::ceil(std::log10(threshold) - 1e-9)),
            last = int(std::floor(std::log10(largest) + 1e-9));
  const int sides = low < 0 && high > 0 ? 2 : 1;
  const int every = std::max(1, int(std::ceil(double(sides * (last - first + 1)) / std::max(count, 1))));
  const auto add = [&](double value) {
    if (value >= low && value <= high) ticks.push_back(value);
  };
  // From the largest down, so that the ends of the axis have labels and the dense part near 0 loses some.
  for (int e = last; e >= first; e -= every) add(-std::pow(10.0, e));
  add(0);
  const size_t positive = ticks.size();
  for (int e = last; e >= first; e -= every) add(std::pow(10.0, e));
  std::reverse(ticks.begin() + std::ptrdiff_t(positive), ticks.end());
  return ticks.size() < 2 ? axis_ticks(low, high, count) : ticks;
}

std::vector<double> axis_ticks(const AxisScale& scale, double low, double high, int count) {
  switch (scale.kind) {
    case AxisScale::Kind::log:
      return log_axis_ticks(low, high, count);
    case AxisScale::Kind::symlog:
      return symlog_axis_ticks(scale.threshold, low, high, count);
    case AxisScale::Kind::linear:
      break;
  }
  return axis_ticks(low, high, count);
}

double tick_distance(const AxisScale& scale, const std::vector<double>& ticks, size_t i) {
  if (scale.kind != AxisScale::Kind::linear) {
    // Within a decade ticks are closer to each other than to 0, and their labels need more digits.
    double gap = INFINITY;
    if (i > 0) gap = std::min(gap, ticks[i] - ticks[i - 1]);
    if (i + 1 < ticks.size()) gap = std::min(gap, ticks[i + 1] - ticks[i]);
    const double own = std::max(std::abs(ticks[i]), scale.threshold * 1e-3);
    return gap > 0 && gap < 0.49 * own ? gap : own;
  }
  return ticks.size() > 1 ? ticks[1] - ticks[0] : 1;
}

}  // namespace lunagrad
