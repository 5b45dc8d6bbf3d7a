#pragma once
// How the values of an axis map to its length: linear, logarithmic or symmetric-logarithmic (symlog), and the
// round numbers to label it with. Pure functions.
#include <cmath>
#include <vector>

namespace lunagrad {

struct AxisScale {
  // symlog: sgn(v) log10(1 + |v| / threshold): about linear for |v| < threshold, logarithmic above it, on
  // both sides of 0 (Webber 2013, "A bi-symmetric log transformation for wide-range data").
  enum class Kind { linear, log, symlog } kind = Kind::linear;
  double threshold = 1;

  bool shows(double value) const { return std::isfinite(value) && (kind != Kind::log || value > 0); }
  double forward(double value) const;  // increasing; for values that the scale can show
  double inverse(double place) const;
};

const char* name_of(AxisScale::Kind);
AxisScale::Kind next(AxisScale::Kind);  // in the order linear, log, symlog, linear
// The threshold for values of magnitude at most `largest`: the power of ten four decades below it.
double symlog_threshold(double largest);

// Round numbers that divide [low, high] into at most `count` parts: multiples of 1, 2 or 5 times a power of
// ten.
std::vector<double> axis_ticks(double low, double high, int count);
// The powers of ten in [low, high], with 2 and 5 times them when there are few; low > 0.
std::vector<double> log_axis_ticks(double low, double high, int count);
// 0 and the powers of ten of both signs from the threshold on, as far as they are in [low, high].
std::vector<double> symlog_axis_ticks(double threshold, double low, double high, int count);
std::vector<double> axis_ticks(const AxisScale&, double low, double high, int count);
// The distance from tick i to its nearest neighbour, for the number of digits that its label needs.
double tick_distance(const AxisScale&, const std::vector<double>& ticks, size_t i);

}  // namespace lunagrad
