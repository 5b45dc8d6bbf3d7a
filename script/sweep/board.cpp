#include "script/sweep/board.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "runtime/error.h"

namespace lunagrad::sweep {
namespace fs = std::filesystem;

const char* name_of(State state) {
  constexpr const char* kNames[] = {"waiting", "running", "paused", "stopped", "finished", "failed"};
  return kNames[int(state)];
}

Board::Board(std::string folder) : folder_(std::move(folder)), plan_(read_plan(folder_)) { refresh(); }

void Board::refresh() {
  legs_ = read_legs(folder_, int64_t(plan_.trials.size()) * plan_.legs);
  const auto unknown = [&](const Leg& leg) {
    return leg.trial < 1 || leg.trial > int64_t(plan_.trials.size()) || leg.leg >= plan_.legs;
  };
  for (std::vector<Leg>* legs : {&legs_.waiting, &legs_.running, &legs_.done}) std::erase_if(*legs, unknown);
  std::map<std::string, Result> results;
  for (const Leg& leg : legs_.done) {
    const auto known = results_.find(leg.name());
    results[leg.name()] = known == results_.end() ? read_result(folder_, leg) : known->second;
  }
  results_ = std::move(results);
}

// Those of the rung below whose value is among the best 1/eta there, and that were not promoted yet.
std::vector<Leg> Board::promotable(int leg) const {
  std::vector<const Leg*> rung;
  for (const Leg& done : legs_.done)
    if (done.leg == leg - 1) rung.push_back(&done);
  const auto better = [&](const Leg* a, const Leg* b) {
    const std::optional<double>&x = result(*a).value, &y = result(*b).value;
    if (x && y && *x != *y) return plan_.better(*x, *y);
    if (bool(x) != bool(y)) return bool(x);
    return a->trial < b->trial;
  };
  std::sort(rung.begin(), rung.end(), better);
  rung.resize(rung.size() / size_t(plan_.eta));
  std::vector<Leg> legs;
  for (const Leg* done : rung) {
    if (result(*done).ending != Ending::rung) continue;
    const auto next = std::find_if(legs_.waiting.begin(), legs_.waiting.end(), [&](const Leg& waiting) {
      return waiting.trial == done->trial && waiting.leg == leg;
    });
    if (next == legs_.waiting.end()) continue;
    legs.push_back(*next);
    legs.back().attempt = std::max(next->attempt, done->attempt);
  }
  return legs;
}

std::vector<Leg> Board::claimable() const {
  std::vector<Leg> legs;
  for (int leg = plan_.legs - 1; leg > 0; --leg)
    for (Leg& promoted : promotable(leg)) legs.push_back(std::move(promoted));
  for (const Leg& waiting : legs_.waiting)
    if (waiting.leg == 0) legs.push_back(waiting);
  return legs;
}

bool Board::over() const { return legs_.running.empty() && legs_.moving == 0 && claimable().empty(); }

// A claim's folder is renamed once its trial is finished.
std::string Board::folder_of(const Leg& leg) const {
  for (const std::string& name : {leg.folder(), settled_name(leg.trial)})
    if (std::string folder = folder_ + "/trials/" + name; is_run(folder)) return folder;
  return {};
}

std::vector<Trial> Board::trials() const {
  const bool over = this->over();
  std::vector<Trial> trials(plan_.trials.size());
  for (size_t i = 0; i < trials.size(); ++i) {
    trials[i].number = int64_t(i) + 1;
    trials[i].values = plan_.trials[i];
  }
  std::vector<Leg> done = legs_.done;
  std::sort(done.begin(), done.end(), [](const Leg& a, const Leg& b) { return a.leg < b.leg; });
  for (const Leg& leg : done) {  // the last leg counts
    Trial& trial = trials[size_t(leg.trial - 1)];
    const Result& ended = result(leg);
    trial.state = ended.ending == Ending::failed     ? State::failed
                  : ended.ending == Ending::finished ? State::finished
                  : over                             ? State::stopped
                                                     : State::paused;
    trial.value = ended.value;
    trial.value_step = ended.value_step;
    trial.steps = ended.steps;
    trial.error = ended.error;
    trial.folder = folder_of(leg);
  }
  const auto look_at_run = [&](const Leg& leg, State state) {
    Trial& trial = trials[size_t(leg.trial - 1)];
    trial.state = state;
    const std::string folder = folder_of(leg);
    if (folder.empty()) return;
    trial.folder = folder;
    try {
      const RunRecord run = read_run(folder);
      trial.steps = run.steps;
      const std::optional<MetricPoint> best = best_of(plan_, run);
      if (best) trial.value = best->value, trial.value_step = best->step;
    } catch (const Error&) {
      // It was renamed or taken over meanwhile; the next look finds it.
    }
  };
  for (const Leg& leg : legs_.waiting)
    if (leg.attempt > 0) look_at_run(leg, State::waiting);  // its worker gave it back
  for (const Leg& leg : legs_.running) look_at_run(leg, State::running);
  return trials;
}

const Trial* best_of(const Plan& plan, const std::vector<Trial>& trials) {
  const Trial* best = nullptr;
  for (const Trial& trial : trials)
    if (trial.value && (!best || plan.better(*trial.value, *best->value))) best = &trial;
  return best;
}

std::optional<MetricPoint> best_of(const Plan& plan, const RunRecord& run) {
  const auto found = run.metrics.find(plan.metric);
  std::optional<MetricPoint> best;
  if (found == run.metrics.end()) return best;
  for (const MetricPoint& point : found->second)
    if (std::isfinite(point.value) && (!best || plan.better(point.value, best->value))) best = point;
  return best;
}

}  // namespace lunagrad::sweep
