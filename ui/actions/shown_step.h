#pragma once
// Which step of the run the window shows: the latest one (live), or a kept step that the user went back to.
// Owns that choice, the list of kept steps as of this frame, and the memory budget that kept steps share with
// textures. Drawing thread only.
#include <cstdint>
#include <optional>

#include "script/session.h"
#include "ui/record/actions.h"
#include "ui/runs/journal.h"
#include "ui/tape/model.h"

namespace lunagrad {

class ShownStep {
 public:
  // All references outlive this object.
  ShownStep(Session& session, const TapeModel& tape, const Journal& journal, Actions& actions);

  // Reads the list of kept steps and gives them the memory that textures leave. Once a frame.
  void update();

  // The step of the tape that is shown; the run's latest step while there is no tape.
  int64_t step() const { return tape_.tape() ? tape_.tape()->step : journal_.step(); }
  bool live() const { return !standing_; }
  const History& history() const { return history_; }  // as of this frame
  // The tape to show: the latest, or that of the step that the user went back to. `with_values`: of the
  // latest steps one whose values are kept, if there is one.
  TapePtr tape(bool with_values) const;

  void stand_on(int64_t step);  // the kept step nearest to `step`
  void move(int by);  // to the next kept step (1) or the previous one (-1); past the last one it goes live
  void go_live();
  void follow_run() { standing_.reset(); }  // the same as a part of another action

  // Bytes that kept steps and textures may take together, and that they take now.
  size_t memory_budget() const { return memory_budget_; }
  void set_memory_budget(size_t bytes) { actions_.act("set_memory_budget", {double(bytes)}, true); }
  size_t memory_held() const;

 private:
  Session& session_;
  const TapeModel& tape_;
  const Journal& journal_;
  Actions& actions_;
  std::optional<int64_t> standing_;  // the kept step that is shown instead of the latest one
  History history_;
  size_t memory_budget_ = kHistoryBudget;
  size_t history_budget_ = kHistoryBudget;  // as last given to the session
};

}  // namespace lunagrad
