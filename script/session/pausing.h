#pragma once
// The state machine of pauses and single steps: what was requested, and whether a safe point grants it. It
// knows neither threads nor Lua and has no lock: RunControl calls it under its own lock.
#include <chrono>
#include <optional>

#include "script/view/run.h"

namespace lunagrad {

// What ends a single step: nothing (the script runs on), the next op, another line, or the end of the step of
// lg.run.steps.
enum class StepTo { nothing, op, line, step_end };

class Pausing {
 public:
  using Clock = std::chrono::steady_clock;

  // Pauses at the next safe point.
  void ask() {
    pause_ = true;
    ended_ = StepTo::nothing;
    viewer_asked_.reset();
  }
  // Pauses at the next safe point, for breakpoints; a viewer's earlier request keeps its grace period.
  void ask_at_once() { pause_ = true; }
  // A viewer made the request: inside lg.run.steps the pause may wait up to 40 ms for the end of the step,
  // which can be shown as a whole.
  void let_step_end(Clock::time_point now) { viewer_asked_ = now; }
  // Ends the pause. `paused`: the script is paused now.
  void go_on(StepTo, bool paused);
  // Ends the pause without a single step. Returns whether a pause was requested.
  bool cancel();
  void clear() {
    pause_ = false;
    step_to_ = ended_ = StepTo::nothing;
  }
  // For a reload of a paused script: runs to the end of the step, then pauses.
  void finish_step_first() {
    if (cancel()) step_to_ = StepTo::step_end;
  }

  bool asked() const { return pause_; }
  StepTo step_to() const { return step_to_; }
  StepTo ended() const { return ended_; }  // the single step that became the requested pause
  // Whether a viewer will look at the values of the coming step.
  bool near() const { return pause_ || step_to_ != StepTo::nothing; }

  // Called at a safe point: a single step that ends here becomes a pause.
  void reached(SafePlace);
  // Whether the requested pause begins here. `whole_step`: all values of the step are captured or can be
  // recomputed.
  bool granted_at(SafePlace, bool in_steps, bool whole_step, Clock::time_point now) const;
  // Called when the pause begins.
  void begin(SafePlace, bool in_steps, bool whole_step);

 private:
  bool pause_ = false;
  StepTo step_to_ = StepTo::nothing, ended_ = StepTo::nothing;
  std::optional<Clock::time_point> viewer_asked_;
  bool inside_step_ = false;  // the pause began inside a step that cannot be shown as a whole
  bool rest_first_ = false;   // finish that step before step_to_ counts
};

}  // namespace lunagrad
