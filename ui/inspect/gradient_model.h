#pragma once
// The statistics of a run as the window shows them: for each parameter curves over the steps that were looked
// at, the histograms of its gradients, and what the alarms say. A run that goes back, as a reload does,
// continues from its earlier step. Knows no window. Drawing thread only.
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "script/session.h"
#include "ui/base/curve.h"
#include "ui/inspect/alarms.h"

namespace lunagrad {

struct ParameterHistory {
  std::string name;
  std::vector<int64_t> shape;
  SourcePlace place;
  uint64_t node = 0;
  Curve norm, ratio;  // of the gradient; of the update to the weight
  ParameterStatistics latest;
  // Of the steps whose histograms are kept, those that have one of it; they belong to steps().
  std::deque<std::pair<int64_t, const ParameterStatistics*>> spreads;
};

class GradientModel {
 public:
  bool update(const Session&);  // once a frame; true: there is something new
  void add(const StepStatisticsPtr&);
  void clear();

  const std::vector<ParameterHistory>& parameters() const { return parameters_; }  // as the model has them
  const ParameterHistory* find(const std::string& name) const;
  const Curve& total() const { return total_; }  // the norm over all parameters
  const std::deque<StepStatisticsPtr>& steps() const { return steps_; }
  const StepStatistics* latest() const { return steps_.empty() ? nullptr : steps_.back().get(); }
  double every() const;  // steps between two looks, over the latest of them
  const Alarms& alarms() const { return alarms_; }

 private:
  uint64_t number_ = 0;
  std::vector<ParameterHistory> parameters_;
  Curve total_;
  std::deque<StepStatisticsPtr> steps_;
  Alarms alarms_;
};

}  // namespace lunagrad
