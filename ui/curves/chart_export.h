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
  size_t merged = 0;  // the number of leading points that each stand for several
  std::vector<double> steps, times, values, smoothed;
};
// Replaces merged points by the points in the run folders. Returns false if some could not be read and stay
// merged.
bool complete(std::vector<CsvSeries>&);
// "run,metric,step,time,value,smoothed", a line per point; numbers read back as the same double.
std::string charts_as_csv(const std::vector<CsvSeries>&);

struct SvgChart {
  std::string title;
  std::vector<PlotLine> lines;  // the visible lines
  std::vector<PlotMark> marks;
  PlotRange y;
};
// The charts one below the other, each `width` by `height`. The lines have their colours; `dark` selects the
// background.
std::string charts_as_svg(const std::vector<SvgChart>&, const PlotAxis&, int width, int height, bool dark);

}  // namespace lunagrad
