#pragma once
// Parallel coordinates: an axis for each quantity, and a line for each thing that has them (Inselberg 1985,
// "The plane with parallel coordinates"). Pure data.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace lunagrad {

// A place on an axis, 0 at its lower end and 1 at its upper one.
struct ParallelTick {
  double place = 0;
  std::string label;
};
struct ParallelAxis {
  std::string name, about;          // about: "logarithmic", "" for a linear axis or one of words
  std::vector<ParallelTick> ticks;  // the most important first: others give way to them
};
struct ParallelLine {
  size_t source = 0;  // what it stands for
  std::string name;
  std::vector<double> places;  // for each axis; NaN where it has no value
  double shade = NAN;          // 0 for the best, 1 for the worst; NaN without a value
};
struct ParallelPlot {
  std::vector<ParallelAxis> axes;
  std::vector<ParallelLine> lines;
};

// The line nearest to a point, at most `reach` away: x in axes from 0, y in places, of which an axis' width
// and height have so many units.
std::optional<size_t> nearest_line(const ParallelPlot&, double x, double y, double width, double height,
                                   double reach);

}  // namespace lunagrad
