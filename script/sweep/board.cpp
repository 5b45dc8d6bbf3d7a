#include "script/sweep/board.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>
#include <utility>

#include "runtime/core/error.h"

namespace lunagrad::sweep {
namespace fs = std::filesystem;

const char* name_of(State state) {
  constexpr const char* kNames[] = {"waiting", "running", "paused", "stopped", "finished", "failed"};
  return kNames[int(state)];
}

Board::Board(std::string folder) : folder_(std::move(folder)), plan_(read_plan(folder_)) { refresh(); }

void Board::refresh() {
  find_missing();
  read_results();
}

// A leg whose file is lost counts as done if its result exists: the result is written before the leg moves to
// done/. A file that is just being renamed is found by reading the folders again.
void Board::find_missing() {
  constexpr int kLooks = 3;
  constexpr std::chrono::milliseconds kPause{5};
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) std::this_thread::sleep_for(kPause);
    legs_ = read_legs(folder_, int64_t(plan_.trials.size()), plan_.legs);
    if (legs_.missing.empty()) return;
  }
  for (const Leg& found : legs_with_results(folder_)) {
    const auto same = [&](const Leg& leg) { return leg.trial == found.trial && leg.leg == found.leg; };
    if (std::erase_if(legs_.missing, same) > 0) {
      legs_.done.push_back(found);
    } else if (const auto done = std::find_if(legs_.done.begin(), legs_.done.end(), same);
               done != legs_.done.end() && done->attempt < found.attempt && !has_file(*done)) {
      *done = found;  // the latest claim
    }
  }
}

bool Board::has_file(const Leg& done) const {
  std::error_code ignored;
  return fs::exists(fs::path(folder_) / kDone / done.name(), ignored);
}

// A damaged result counts as a failed trial, which --retry-failed repeats.
void Board::read_results() {
  std::map<std::string, Result> results;
  std::vector<Leg> damaged;
  for (const Leg& leg : legs_.done) {
    const auto known = results_.find(leg.name());
    const bool was_read =
        known != results_.end() && std::find(damaged_.begin(), damaged_.end(), leg) == damaged_.end();
    try {
      results[leg.name()] = was_read ? known->second : read_result(folder_, leg);
    } catch (const Error& error) {
      damaged.push_back(leg);
      results[leg.name()] = {.ending = Ending::failed, .error = error.what()};
    }
  }
  results_ = std::move(results);
  damaged_ = std::move(damaged);
}

std::string Board::damage() const {
  if (damaged_.empty()) return {};
  std::string trials;
  for (const Leg& leg : damaged_) trials += text(trials.empty() ? "" : ", ", leg.trial);
  return text("skipped ", damaged_.size(),
              damaged_.size() == 1 ? " damaged result of " : " damaged results of ", folder_, " (trial ",
              trials, "); runs check --repair ", folder_, " repairs it");
}

// The legs whose previous leg ended among the best 1/eta at the rung below, and that have not been claimed
// yet.
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

bool Board::over() const { return legs_.running.empty() && legs_.missing.empty() && claimable().empty(); }

// The folder of a claim, which is renamed once its trial is finished.
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
      // The folder was renamed or taken over in the meantime; the next refresh finds it.
    }
  };
  for (const Leg& leg : legs_.waiting)
    if (leg.attempt > 0) look_at_run(leg, State::waiting);  // its worker gave the leg back
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
