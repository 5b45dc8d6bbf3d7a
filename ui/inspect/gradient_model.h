#pragma once
// The statistics of a run for the window: for each parameter its curves over the sampled steps, the
// histograms of its gradients, and the alarms. A run that goes back, as after a reload, continues from its
// earlier step. Needs no window. Drawing thread only.
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "script/session_inspection.h"
#include "ui/base/curve.h"
#include "ui/inspect/alarms.h"

namespace lunagrad {

struct ParameterHistory {
  static constexpr size_t kRecent = 2048;  // small, because there are many parameters
  std::string name;
  std::vector<int64_t> shape;
  SourcePlace place;
  uint64_t node = 0;
  Curve norm{kRecent}, ratio{kRecent};  // norm of the gradient; ratio of the update to the weight
  ParameterStatistics latest;
  // The kept steps that have a histogram of this parameter; steps() owns the statistics.
  std::deque<std::pair<int64_t, const ParameterStatistics*>> spreads;
};

class GradientModel {
 public:
  bool update(const SessionInspection&);  // once a frame; returns true when there is something new
  void add(const StepStatisticsPtr&);
  void clear();
  // The parameter's figures in a step; null if it has none. `guess`: its likely position among them.
  static const ParameterStatistics* of(const StepStatistics&, const ParameterHistory&, size_t guess);

  const std::vector<ParameterHistory>& parameters() const { return parameters_; }  // in the model's order
  const ParameterHistory* find(const std::string& name) const;
  const Curve& total() const { return total_; }  // norm over all parameters
  const std::deque<StepStatisticsPtr>& steps() const { return steps_; }
  // Samples before steps(), thinned out: the first of the run, and the others at growing distances.
  const std::vector<StepStatisticsPtr>& earlier() const { return earlier_; }
  const StepStatistics* latest() const { return steps_.empty() ? nullptr : steps_.back().get(); }
  // The statistics to show for a step: the latest that were measured at or before it, else the first. Null:
  // none yet.
  const StepStatistics* at(int64_t step) const;
  bool has(int64_t step) const;  // exactly this step was measured
  // How many steps lie between two samples now that the run is at `step`: over the latest samples, or more if
  // the last one is older than that.
  double every(int64_t step) const;
  const Alarms& alarms() const { return alarms_; }
  void set_found(std::vector<Alarm> found, int64_t step) {  // the session's findings at this step of the run
    alarms_.set_found(std::move(found), step);
  }

 private:
  void drop_last();
  void keep_earlier(StepStatisticsPtr);

  uint64_t number_ = 0;
  std::vector<ParameterHistory> parameters_;
  Curve total_;
  std::deque<StepStatisticsPtr> steps_;
  size_t bytes_ = 0;  // of steps_
  std::vector<StepStatisticsPtr> earlier_;
  Alarms alarms_;
};

}  // namespace lunagrad
