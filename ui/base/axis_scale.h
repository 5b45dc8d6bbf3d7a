#pragma once
// How the values of an axis are spread over its length, linear, logarithmic or symmetric-logarithmic, and the
// round numbers that are written beside it. Pure functions.
#include <cmath>
#include <vector>

namespace lunagrad {

struct AxisScale {
  // symlog: sgn(v) log10(1 + |v| / threshold), about linear up to the threshold and logarithmic beyond it, on
  // both sides of 0 (Webber 2013, "A bi-symmetric log transformation for wide-range data").
  enum class Kind { linear, log, symlog } kind = Kind::linear;
  double threshold = 1;

  bool shows(double value) const { return std::isfinite(value) && (kind != Kind::log || value > 0); }
  double forward(double value) const;  // rising; of a value that it shows
  double inverse(double place) const;
};

const char* name_of(AxisScale::Kind);
AxisScale::Kind next(AxisScale::Kind);  // linear, log, symlog and around
// A threshold for values up to `largest` in magnitude: the power of ten four decades below.
double symlog_threshold(double largest);

// Round numbers that divide [low, high] into at most `count` parts: steps of 1, 2 or 5 times a power of ten.
std::vector<double> axis_ticks(double low, double high, int count);
// Powers of ten inside, with 2 and 5 times them when there are few; low > 0.
std::vector<double> log_axis_ticks(double low, double high, int count);
// 0 and the powers of ten from the threshold on, of both signs, that lie inside.
std::vector<double> symlog_axis_ticks(double threshold, double low, double high, int count);
std::vector<double> axis_ticks(const AxisScale&, double low, double high, int count);
// How far tick i is from what its number must be told from.
double tick_distance(const AxisScale&, const std::vector<double>& ticks, size_t i);

}  // namespace lunagrad
