#pragma once
// Turns the curves of one or several runs into the lines of charts: which metrics share a chart, which names
// pass the filters, colours and dashes, and the mean over runs of equal configuration. Needs no window.
// Drawing thread only.
#include <imgui.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ui/base/name_filter.h"
#include "ui/curves/plot_data.h"
#include "ui/runs/curves.h"

namespace lunagrad {

struct ChartSource {
  RunCurves* run = nullptr;
  std::string label;  // short name
  size_t index = 0;   // selects the run's colour when there are several runs
};

struct Chart {
  std::string title;
  std::string section;  // charts of one section are beside each other; "": above the sections
  std::vector<PlotLine> lines;
  std::vector<std::pair<const RunCurves*, const Metric*>> series;  // the source of every line
};

struct ChartColors {
  std::vector<ImU32> series;
  ImU32 edit, reload, checkpoint, pause, not_finite;
};

class ChartModel {
 public:
  NameFilter metrics, runs;
  XAxis x = XAxis::step;
  bool mean = false;  // shows runs of equal configuration as mean and spread
  bool marks = true;

  // Valid until the next call, or until a source changes. Losses come first; charts keep their order while
  // metrics are added, and while filters hide some.
  const std::vector<Chart>& build(const std::vector<ChartSource>&, double smoothing, const ChartColors&);
  const std::vector<PlotMark>& plot_marks() const { return plot_marks_; }
  // Extent over all lines; empty when there are none.
  double first() const { return first_; }
  double last() const { return last_; }
  double least_positive() const { return least_positive_; }
  bool any() const { return first_ <= last_; }
  const char* axis_label(const std::vector<ChartSource>&) const;
  static bool has_samples(const std::vector<ChartSource>&);

 private:
  struct Mean {
    size_t points = 0;  // number of points that the mean was made from
    double smoothing = 0;
    XAxis x = XAxis::step;
    std::vector<const RunCurves*> runs;
    MeanCurves curves;
  };
  const ChartPlace& place_of(const Metric&);
  Chart& chart_of(const Metric&);
  void keep_order(const std::vector<ChartSource>&);
  void sort_charts();
  void add_runs(const std::vector<ChartSource>&, bool several, bool smoothed, const ChartColors&);
  void add_means(const std::vector<ChartSource>&, const std::string& group, double smoothing,
                 const ChartColors&);
  void add_marks(const std::vector<ChartSource>&, const ChartColors&);

  std::vector<Chart> charts_;
  std::map<std::string, ChartPlace> places_;  // by name of the line, since a chart is found in each frame
  std::vector<ChartPlace> order_;             // of all charts, also of hidden ones
  bool settled_ = false;                      // the order no longer changes
  std::vector<PlotMark> plot_marks_;
  std::map<std::pair<std::string, std::string>, Mean> means_;  // by group and metric
  double first_ = 1, last_ = 0, least_positive_ = 1;
};

}  // namespace lunagrad
