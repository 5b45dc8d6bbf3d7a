#pragma once
// The logged values of a run as curves, both for the current run (filled by the journal) and for runs in
// folders (filled by the run library). Older points are merged (curve.h); the run's folder has all of them.
// Pure data; each object belongs to one thread at a time.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "script/view/smoother.h"
#include "script/view/source_place.h"
#include "ui/base/curve.h"

namespace lunagrad {

// Of the exponential moving average, until the user changes it: light enough that peaks stay near their step.
inline constexpr double kDefaultSmoothing = 0.6;

// The unit of a chart's x axis. Samples: the metric that the script logs as "samples" or "epoch".
enum class XAxis { step, time, samples };

// One metric over the steps. Smoothing always runs over steps, so that a step's smoothed value is the same on
// every axis; other axes are computed when first shown.
class Metric {
 public:
  Metric(std::string name, double smoothing) : name(std::move(name)), smoother_(smoothing) {}

  std::string name;
  bool probe = false;  // the values come from a probe, so they are not in the run's folder
  Curve raw, smooth;   // curves over steps

  // A step before the last one is ignored.
  void append(int64_t step, double time, double value);
  void drop_after(int64_t step);  // removes rows that a reload invalidated
  void set_smoothing(double beta);
  double smoothing() const { return smoother_.beta(); }
  double time(size_t i) const { return times_.y(i); }  // time of raw's entry i
  size_t bytes() const;

  struct Pair {
    const Curve *raw, *smooth;
  };
  // The curves over another axis; `samples` is the run's curve of samples over steps. A point after the last
  // known number of samples is added when a later number is known.
  Pair over(XAxis, const Curve* samples);

 private:
  Smoother smoother_;
  Curve times_;  // over steps; it has the same entries as raw and smooth
  XAxis other_ = XAxis::step;
  Curve other_raw_, other_smooth_;
  size_t other_done_ = 0;    // entries of raw that were handled: added to other_raw_, or without x there
  size_t other_merged_ = 0;  // the number of raw's buckets at that time
  double other_last_ = 0;    // x of the last handled entry
};

// An event at a step: a mark on every chart.
struct RunMark {
  enum class Kind { edit, reload, checkpoint, pause, not_finite } kind = Kind::edit;
  int64_t step = 0;
  double time = 0;
  std::string text;
  SourcePlace place;
  std::string brief;  // short text of an edit: "lr 0.05"
};

struct RunCurves {
  std::string name, folder;
  std::string group;  // equal for runs whose configuration differs only in the seed; "" unknown
  std::deque<Metric> metrics;
  std::vector<RunMark> marks;

  Metric& metric(const std::string& name, double smoothing);  // creates it if necessary
  Metric& probe(const std::string& name, double smoothing);   // likewise; may share the name of a metric
  const Metric* samples() const;                              // null: the script logs none of these names
  void drop_after(int64_t step);
  // The logged step whose x on this axis is nearest; nothing while no metric has one.
  std::optional<int64_t> step_at(XAxis, double x) const;
  // The x of a step on this axis, between the logged steps the nearest one's; NaN if unknown.
  double x_of(XAxis, int64_t step) const;
  // The x of a mark; NaN if unknown.
  double place(XAxis, const RunMark&) const;
};

// Losses and other errors, which training makes small.
bool is_loss(std::string_view name);
// The chart of a metric, and the section of charts that it is in; "" for none.
struct ChartPlace {
  std::string section, chart;
};
// By the parts of a name between slashes. The names of data splits do not count: "val_loss" and "train/loss"
// belong to "loss". Losses share a chart: "loss/d" and "loss/g" are terms of "loss", and so are "d/loss" and
// "g/loss". Other prefixes are sections: "grad/fc1" is a chart of the section "grad".
ChartPlace chart_place(std::string_view name);
ChartPlace chart_place(const Metric&);  // a probe's name is an expression
std::string line_name(const Metric&);   // its name in a legend

// Mean and spread of several runs at each x of one of them, at most `most` of them, with linear interpolation
// between points. A run counts between its first and last point.
struct MeanCurves {
  Curve mean, low, high;  // low and high: mean minus and plus the standard deviation (n - 1), where there are
                          // at least two runs; not beyond natural bounds of the values
};
MeanCurves mean_of(const std::vector<const Curve*>&, size_t most = 20000);

}  // namespace lunagrad
