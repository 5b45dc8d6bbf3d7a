#include "ui/inspect/gradient_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lunagrad {
namespace {

constexpr size_t kLeastSteps = 32;
// Of earlier steps the first ones stay, since training goes wrong early; of the others every second one goes
// when there are too many.
constexpr size_t kFirstSteps = 16, kMostEarlier = 256, kMostEarlierBytes = size_t(8) << 20;

}  // namespace

bool GradientModel::update(const SessionInspection& session) {
  const std::vector<StepStatisticsPtr> fresh = session.statistics(number_);
  for (const StepStatisticsPtr& step : fresh) add(step);
  return !fresh.empty();
}

void GradientModel::add(const StepStatisticsPtr& step) {
  // A step that was measured at a pause within it is measured once more at its end.
  const bool again = !steps_.empty() && step->step == steps_.back()->step;
  if (again) {
    drop_last();
  } else if (!steps_.empty() && step->step < steps_.back()->step) {
    // The run went back: samples of later steps are invalid.
    std::deque<StepStatisticsPtr> kept = std::move(steps_);
    std::vector<StepStatisticsPtr> earlier = std::move(earlier_);
    while (!kept.empty() && kept.back()->step >= step->step) kept.pop_back();
    while (!earlier.empty() && earlier.back()->step >= step->step) earlier.pop_back();
    clear();
    earlier_ = std::move(earlier);
    for (const StepStatisticsPtr& before : kept) add(before);
  }
  number_ = step->number;
  steps_.push_back(step);
  bytes_ += step->bytes();
  while (steps_.size() > StepStatistics::kMostSteps ||
         (steps_.size() > kLeastSteps && bytes_ > StepStatistics::kMostBytes)) {
    const int64_t gone = steps_.front()->step;
    for (ParameterHistory& history : parameters_)
      if (!history.spreads.empty() && history.spreads.front().first <= gone) history.spreads.pop_front();
    bytes_ -= steps_.front()->bytes();
    keep_earlier(std::move(steps_.front()));
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
  if (!again) alarms_.add(*step);
}

void GradientModel::drop_last() {
  const int64_t step = steps_.back()->step;
  total_.drop_after(double(step) - 0.5);
  for (ParameterHistory& history : parameters_) {
    if (!history.spreads.empty() && history.spreads.back().first == step) history.spreads.pop_back();
    history.norm.drop_after(double(step) - 0.5);
    history.ratio.drop_after(double(step) - 0.5);
  }
  bytes_ -= steps_.back()->bytes();
  steps_.pop_back();
}

void GradientModel::keep_earlier(StepStatisticsPtr step) {
  earlier_.push_back(std::move(step));
  // All steps of a run are of about one size.
  const size_t most = std::min(kMostEarlier, kMostEarlierBytes / earlier_.back()->bytes());
  if (earlier_.size() <= std::max(most, 2 * kFirstSteps)) return;
  size_t kept = kFirstSteps;
  for (size_t i = kFirstSteps; i < earlier_.size(); i += 2) earlier_[kept++] = std::move(earlier_[i]);
  earlier_.resize(kept);
}

void GradientModel::clear() {
  parameters_.clear();
  total_ = Curve();
  steps_.clear();
  bytes_ = 0;
  earlier_.clear();
  alarms_.clear();
}

const ParameterHistory* GradientModel::find(const std::string& name) const {
  for (const ParameterHistory& history : parameters_)
    if (history.name == name) return &history;
  return nullptr;
}

const StepStatistics* GradientModel::at(int64_t step) const {
  if (steps_.empty()) return nullptr;
  const auto later = std::upper_bound(
      steps_.begin(), steps_.end(), step,
      [](int64_t wanted, const StepStatisticsPtr& measured) { return wanted < measured->step; });
  return later == steps_.begin() ? steps_.front().get() : std::prev(later)->get();
}

bool GradientModel::has(int64_t step) const {
  const StepStatistics* const measured = at(step);
  return measured && measured->step == step;
}

const ParameterStatistics* GradientModel::of(const StepStatistics& step, const ParameterHistory& parameter,
                                             size_t guess) {
  const auto& all = step.parameters;
  if (guess < all.size() && all[guess].name == parameter.name) return &all[guess];
  const auto found = std::find_if(all.begin(), all.end(), [&](const ParameterStatistics& p) {
    return p.node == parameter.node || p.name == parameter.name;
  });
  return found == all.end() ? nullptr : &*found;
}

double GradientModel::every(int64_t step) const {
  const size_t count = std::min<size_t>(steps_.size(), 6);
  if (count == 0) return 1;
  const StepStatistics& last = *steps_.back();
  const double mean =
      count < 2 ? 1 : double(last.step - steps_[steps_.size() - count]->step) / double(count - 1);
  return std::max(mean, double(step - last.step));
}

}  // namespace lunagrad
