#pragma once
// Charts as files: CSV with every value, raw and smoothed, and SVG with what the charts show. Pure text;
// writing it is the caller's, on any thread.
#include <string>
#include <vector>

#include "ui/curves/plot.h"
#include "ui/runs/curves.h"

namespace lunagrad {

// The points of a metric as they are now, to be written by another thread.
struct CsvSeries {
  CsvSeries(std::string run, const Metric&);
  std::string run, metric;
  std::vector<double> steps, times, values, smoothed;
};
// "run,metric,step,time,value,smoothed", a line for each point, numbers with as many digits as tell doubles
// apart.
std::string charts_as_csv(const std::vector<CsvSeries>&);

struct SvgChart {
  std::string title;
  std::vector<PlotLine> lines;  // those that are shown
  std::vector<PlotMark> marks;
  PlotRange y;
};
// One below the other, `width` by `height` each. Colours are those of the lines; `dark` chooses the ground.
std::string charts_as_svg(const std::vector<SvgChart>&, const PlotAxis&, int width, int height, bool dark);

}  // namespace lunagrad
