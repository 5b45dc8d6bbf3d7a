#pragma once
// What a run logged, as curves: the run that is going on (fed by the journal) and runs of folders (fed by the
// run library) look alike. Pure data; each object belongs to one thread at a time.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "script/session.h"
#include "ui/base/curve.h"

namespace lunagrad {

// What a chart's x axis counts. Samples are what the script logs as a metric called "samples" or "epoch".
enum class XAxis { step, time, samples };

// One metric over the steps. Smoothing always runs over steps, so that a step's smoothed value is the same on
// every axis; the other axes are made when one is first shown.
class Metric {
 public:
  Metric(std::string name, double smoothing) : name(std::move(name)), smoother_(smoothing) {}

  std::string name;
  Curve raw, smooth;  // over steps

  // A step before the last one is left out.
  void append(int64_t step, double time, double value);
  void drop_after(int64_t step);  // rows that a reload made void
  void set_smoothing(double beta);
  double smoothing() const { return smoother_.beta(); }
  const std::vector<double>& times() const { return times_; }

  struct Pair {
    const Curve *raw, *smooth;
  };
  // Over another axis; `samples` is the run's curve of samples over steps. A point whose place there is not
  // known yet, since it is later than the last number of samples, waits for the next one.
  Pair over(XAxis, const Curve* samples);

 private:
  Smoother smoother_;
  std::vector<double> times_;
  XAxis other_ = XAxis::step;
  Curve other_raw_, other_smooth_;
  size_t other_done_ = 0;  // points of raw that are in other_raw_ or have no place there
};

// Something that happened at a step: a mark on every chart.
struct RunMark {
  enum class Kind { edit, reload, checkpoint, pause } kind = Kind::edit;
  int64_t step = 0;
  double time = 0;
  std::string text;
  SourcePlace place;
  std::string brief;  // of an edit: "lr 0.05"
};

struct RunCurves {
  std::string name, folder;
  std::string group;  // runs of equal configuration, seed apart, have it in common; "" unknown
  std::deque<Metric> metrics;
  std::vector<RunMark> marks;

  Metric& metric(const std::string& name, double smoothing);  // makes it when there is none
  const Metric* samples() const;                              // null: the script logs neither
  void drop_after(int64_t step);
  // Where on the axis a mark stands; NaN where that is unknown.
  double place(XAxis, const RunMark&) const;
};

// The part of a metric's name that decides its chart: "val_loss" and "train/loss" belong to "loss".
std::string metric_stem(std::string_view name);

// Mean and spread of several runs at each x that one of them has, at most `most` of them, from the values
// that lie there or, between two points, on the line that joins them. A run counts where it has begun and not
// ended.
struct MeanCurves {
  Curve mean, low, high;  // low and high: the standard deviation (n - 1) away, where two runs or more are
};
MeanCurves mean_of(const std::vector<const Curve*>&, size_t most = 20000);

}  // namespace lunagrad
