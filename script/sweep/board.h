#pragma once
// The state of a sweep at one time: which leg each trial is in, its best value, and what a worker may claim.
// Reads the sweep's folder and changes nothing. Any thread; each object is for one thread at a time. Errors
// are of kind file.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "script/run/record.h"
#include "script/sweep/legs.h"
#include "script/sweep/plan.h"
#include "script/sweep/result.h"

namespace lunagrad::sweep {

// `paused`: at a rung, may be promoted. `stopped`: at a rung, and the sweep is over.
enum class State { waiting, running, paused, stopped, finished, failed };
const char* name_of(State);

struct Trial {
  int64_t number = 0;  // from 1
  State state = State::waiting;
  std::vector<std::string> values;  // in the order of the plan's axes
  std::optional<double> value;      // the best value of the sweep's metric so far
  int64_t value_step = 0, steps = 0;
  std::string error;   // of a failed trial
  std::string folder;  // the run's folder; "" before there is one
};

class Board {
 public:
  explicit Board(std::string folder);  // reads the plan
  void refresh();                      // reads what changed

  const std::string& folder() const { return folder_; }
  const Plan& plan() const { return plan_; }
  const Legs& legs() const { return legs_; }
  const Result& result(const Leg& done) const { return results_.at(done.name()); }
  // Waiting legs that may be claimed, the most urgent first: promotions from the highest rung down, the best
  // of each rung first, then trials that were not begun.
  std::vector<Leg> claimable() const;
  bool over() const;  // nothing runs and nothing can be claimed
  // "skipped 1 damaged result of SWEEP (trial 7)"; "" when all results could be read.
  std::string damage() const;
  // All trials. Trials that run or were given back have the values that their run has logged.
  std::vector<Trial> trials() const;

 private:
  std::vector<Leg> promotable(int leg) const;
  std::string folder_of(const Leg&) const;

  std::string folder_;
  Plan plan_;
  Legs legs_;
  void find_missing();
  bool has_file(const Leg& done) const;
  void read_results();

  std::map<std::string, Result> results_;  // results of done legs, by the names of the legs' claims
  std::vector<Leg> damaged_;               // done legs whose results could not be read
};

// The trial with the best value; null when no trial has a value.
const Trial* best_of(const Plan&, const std::vector<Trial>&);
// The best finite value of the sweep's metric in a run; among equal values the earliest.
std::optional<MetricPoint> best_of(const Plan&, const RunRecord&);

}  // namespace lunagrad::sweep
