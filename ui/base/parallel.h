#pragma once
// Parallel coordinates: an axis for each quantity, and a line for each thing that has them (Inselberg 1985,
// "The plane with parallel coordinates"). Pure data.
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lunagrad {

// A label on an axis; `place` is 0 at the axis' lower end and 1 at its upper end.
struct ParallelTick {
  double place = 0;
  std::string label;
};
// The values that a part of an axis selects: words, or numbers from low to high.
struct AxisRange {
  bool of_words = false;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  std::set<std::string> words;
  bool selects(const std::string& word) const { return words.count(word) > 0; }
  bool selects(double number) const { return number >= low && number <= high; }  // false for NaN
};
struct ParallelAxis {
  std::string name, about;          // about: "logarithmic", or "" for a linear axis or an axis of words
  std::vector<ParallelTick> ticks;  // the most important first; the others are left out if they overlap
  std::vector<std::string> words;   // the values of an axis of words, from its lower end up
  double least = 0, most = 0;       // the numbers at the ends of an axis of numbers
  std::optional<AxisRange> brush;   // what the user has selected on it
};
struct ParallelLine {
  size_t source = 0;  // the index of the line's object, for example a run
  std::string name;
  std::vector<double> places;  // one per axis; NaN where the line has no value
  double shade = NAN;          // 0 for the best, 1 for the worst; NaN without a value
  bool out = false;            // the user has not selected it: it is pale and cannot be picked
};
struct ParallelPlot {
  std::vector<ParallelAxis> axes;
  std::vector<ParallelLine> lines;
};

// The values between two places of an axis. An end of the axis is no limit, so that a more extreme value,
// which comes later, is selected as well.
AxisRange range_between(const ParallelAxis&, double low, double high);
// The lowest and the highest place that a range selects on an axis; nothing if it selects none.
std::optional<std::pair<double, double>> places_of(const ParallelAxis&, const AxisRange&);

// The line nearest to a point, at most `reach` away. x counts axes from 0, and y is a place on an axis;
// `width` is the distance of two axes and `height` the length of an axis, in the unit of `reach`.
std::optional<size_t> nearest_line(const ParallelPlot&, double x, double y, double width, double height,
                                   double reach);

}  // namespace lunagrad
