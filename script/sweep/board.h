#pragma once
// What is known of a sweep at one time: which leg each trial is in, its best value, and what a worker may
// claim. Reads the sweep's folder and changes nothing. Any thread, one object by one thread. Errors are of
// kind file.
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

// `paused` at a rung, from which it may be promoted; `stopped` there, since the sweep is over.
enum class State { waiting, running, paused, stopped, finished, failed };
const char* name_of(State);

struct Trial {
  int64_t number = 0;  // from 1
  State state = State::waiting;
  std::vector<std::string> values;  // in the order of the plan's axes
  std::optional<double> value;      // the best so far of the sweep's metric
  int64_t value_step = 0, steps = 0;
  std::string error;   // of a failed one
  std::string folder;  // of its run, "" before there is one
};

class Board {
 public:
  explicit Board(std::string folder);  // reads the plan
  void refresh();                      // reads what changed

  const std::string& folder() const { return folder_; }
  const Plan& plan() const { return plan_; }
  const Legs& legs() const { return legs_; }
  const Result& result(const Leg& done) const { return results_.at(done.name()); }
  // Legs that wait and may be claimed, the most urgent first: promotions from the highest rung, of each rung
  // the best, and then trials that were not begun.
  std::vector<Leg> claimable() const;
  bool over() const;  // nothing runs, and nothing may be claimed
  // What could not be read: "skipped 1 damaged result of SWEEP (trial 7)"; "" when all could.
  std::string damage() const;
  // All trials; those that run, or were given back, with what their run has logged.
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

  std::map<std::string, Result> results_;  // of done legs, by the names of their claims
  std::vector<Leg> damaged_;               // done legs whose results could not be read
};

// The trial of the best value; null when none has one.
const Trial* best_of(const Plan&, const std::vector<Trial>&);
// The best finite value of the sweep's metric in a run, the earliest of equal ones.
std::optional<MetricPoint> best_of(const Plan&, const RunRecord&);

}  // namespace lunagrad::sweep
