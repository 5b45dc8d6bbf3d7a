#pragma once
// Parallel coordinates: an axis for each quantity, and a line for each thing that has them (Inselberg 1985,
// "The plane with parallel coordinates"). Pure data.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace lunagrad {

// A label on an axis; `place` is 0 at the axis' lower end and 1 at its upper end.
struct ParallelTick {
  double place = 0;
  std::string label;
};
struct ParallelAxis {
  std::string name, about;          // about: "logarithmic", or "" for a linear axis or an axis of words
  std::vector<ParallelTick> ticks;  // the most important first; the others are left out if they overlap
};
struct ParallelLine {
  size_t source = 0;  // the index of the line's object, for example a run
  std::string name;
  std::vector<double> places;  // one per axis; NaN where the line has no value
  double shade = NAN;          // 0 for the best, 1 for the worst; NaN without a value
};
struct ParallelPlot {
  std::vector<ParallelAxis> axes;
  std::vector<ParallelLine> lines;
};

// The line nearest to a point, at most `reach` away. x counts axes from 0, and y is a place on an axis;
// `width` is the distance of two axes and `height` the length of an axis, in the unit of `reach`.
std::optional<size_t> nearest_line(const ParallelPlot&, double x, double y, double width, double height,
                                   double reach);

}  // namespace lunagrad
