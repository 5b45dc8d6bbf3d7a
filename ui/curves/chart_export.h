#pragma once
// Charts as text for files: CSV with every value, raw and smoothed, and SVG with what the charts show. Pure;
// any thread.
#include <string>
#include <vector>

#include "ui/curves/plot.h"
#include "ui/runs/curves.h"

namespace lunagrad {

// A copy of the points of a metric, to be written by another thread.
struct CsvSeries {
  CsvSeries(const RunCurves& run, const Metric&);
  std::string run, folder, metric;
  double smoothing = 0;
  size_t merged = 0;  // of the points, the first ones that stand for several
  std::vector<double> steps, times, values, smoothed;
};
// Puts the points of the run folders in the place of merged ones. False: some could not be read and stay
// merged.
bool complete(std::vector<CsvSeries>&);
// "run,metric,step,time,value,smoothed", a line per point; numbers read back as the same double.
std::string charts_as_csv(const std::vector<CsvSeries>&);

struct SvgChart {
  std::string title;
  std::vector<PlotLine> lines;  // the visible ones
  std::vector<PlotMark> marks;
  PlotRange y;
};
// One below the other, `width` by `height` each. The lines give the colours; `dark` selects the background.
std::string charts_as_svg(const std::vector<SvgChart>&, const PlotAxis&, int width, int height, bool dark);

}  // namespace lunagrad
