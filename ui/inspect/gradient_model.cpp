#include "ui/inspect/gradient_model.h"

#include <algorithm>
#include <cmath>

namespace lunagrad {
namespace {

constexpr size_t kMostSteps = 2000;  // steps whose histograms are kept

}  // namespace

bool GradientModel::update(const SessionInspection& session) {
  const std::vector<StepStatisticsPtr> fresh = session.statistics(number_);
  for (const StepStatisticsPtr& step : fresh) add(step);
  return !fresh.empty();
}

void GradientModel::add(const StepStatisticsPtr& step) {
  if (!steps_.empty() && step->step <= steps_.back()->step) {
    // The run went back: samples of later steps are invalid.
    std::deque<StepStatisticsPtr> kept = std::move(steps_);
    while (!kept.empty() && kept.back()->step >= step->step) kept.pop_back();
    clear();
    for (const StepStatisticsPtr& earlier : kept) add(earlier);
  }
  number_ = step->number;
  steps_.push_back(step);
  if (steps_.size() > kMostSteps) {
    const int64_t gone = steps_.front()->step;
    for (ParameterHistory& history : parameters_)
      if (!history.spreads.empty() && history.spreads.front().first <= gone) history.spreads.pop_front();
    steps_.pop_front();
  }
  total_.append(double(step->step), step->gradient_norm());
  for (const ParameterStatistics& p : step->parameters) {
    auto known = std::find_if(parameters_.begin(), parameters_.end(),
                              [&](const ParameterHistory& history) { return history.name == p.name; });
    if (known == parameters_.end()) {
      ParameterHistory history;
      history.name = p.name;
      // The parameters are in the order of their leaves' ids, which is the order of creation.
      known = std::find_if(parameters_.begin(), parameters_.end(),
                           [&](const ParameterHistory& other) { return other.node > p.node; });
      known = parameters_.insert(known, std::move(history));
    }
    known->shape = p.shape;
    known->place = p.place;
    known->node = p.node;
    known->latest = p;
    if (!p.has_gradient) continue;
    if (!p.counts.empty()) known->spreads.emplace_back(step->step, &p);
    known->norm.append(double(step->step), p.gradient.finite() ? p.gradient.norm : std::nan(""));
    if (p.weight.norm > 0) known->ratio.append(double(step->step), p.update_ratio());
  }
  alarms_.add(*step);
}

void GradientModel::clear() {
  parameters_.clear();
  total_ = Curve();
  steps_.clear();
  alarms_.clear();
}

const ParameterHistory* GradientModel::find(const std::string& name) const {
  for (const ParameterHistory& history : parameters_)
    if (history.name == name) return &history;
  return nullptr;
}

double GradientModel::every() const {
  const size_t count = std::min<size_t>(steps_.size(), 20);
  if (count < 2) return 1;
  return double(steps_.back()->step - steps_[steps_.size() - count]->step) / double(count - 1);
}

}  // namespace lunagrad
