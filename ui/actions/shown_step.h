#pragma once
// Which step of the run the window shows: the latest one (live), a kept step that the user went back to, or
// any other step of the run, which a replay repeats. Owns that choice, the replay with the keyframes that it
// starts from, the list of kept steps as of this frame, and the memory budget that kept steps share with
// textures. Drawing thread only.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "script/session.h"
#include "ui/record/actions.h"
#include "ui/runs/journal.h"
#include "ui/tape/model.h"
#include "ui/time/replay_desk.h"

namespace lunagrad {

class ShownStep {
 public:
  // All references outlive this object. `wake` requests a frame; it is called on any thread.
  ShownStep(Session& session, const TapeModel& tape, const Journal& journal, Actions& actions,
            std::function<void()> wake);

  // Reads the list of kept steps, gives them the memory that textures leave, and shows the step at which a
  // replay has arrived. Once a frame. True: a replay has ended.
  bool update();
  // A new run begins, as a fork with the states of its start. What it returns gets the keyframes of that run.
  std::shared_ptr<KeyframeSink> begin_run(const RunOptions&);

  // The step of the tape that is shown; the run's latest step while there is no tape.
  int64_t step() const { return tape_.tape() ? tape_.tape()->step : journal_.step(); }
  bool live() const { return !standing_; }
  const History& history() const { return history_; }  // as of this frame
  // The tape to show: the latest, or that of the step that the user went back to. `with_values`: of the
  // latest steps one whose values are kept, if there is one.
  TapePtr tape(bool with_values) const;
  // The session that has the values of the step that is shown: the run's, or that of a replay.
  Session& session() { return replayed_ && replay_.stand() ? replay_.session() : session_; }
  // Another number for each session() and step of a replay; 0: the run's session.
  uint64_t source() const { return replayed_ && replay_.stand() ? replay_.stand()->number : 0; }

  void stand_on(int64_t step);  // the kept step nearest to `step`
  void move(int by);  // to the next kept step (1) or the previous one (-1); past the last one it goes live
  void go_live();
  // This step itself: at once if it is kept or the latest one, otherwise when a replay has arrived there.
  void go_to(int64_t step);
  // A kept step some or all of whose values are not kept: repeat() gets them by a replay.
  bool lacks_values(int64_t step) const;
  void repeat(int64_t step) { actions_.act("repeat_step", {double(step)}, true); }
  void cancel_replay() { actions_.act("cancel_replay"); }
  bool at_hand(int64_t step) const;  // whether go_to() needs no replay
  ReplayDesk::Cost cost(int64_t step) const { return replay_.cost(step, run_now()); }
  int64_t first_step() const { return first_step_; }  // of the run; later than 1 in a fork
  int64_t last_step() const { return journal_.step(); }
  // The step that is shown is the work of a replay.
  bool replayed() const { return replayed_ && tape_.tape() && tape_.tape()->step == replayed_->step; }
  ReplayDesk::RunNow run_now() const;
  ReplayDesk& replay() { return replay_; }
  const ReplayDesk& replay() const { return replay_; }
  void follow_run() { leave(); }  // go_live() as a part of another action

  // Bytes that kept steps and textures may take together, and that they take now.
  size_t memory_budget() const { return memory_budget_; }
  void set_memory_budget(size_t bytes) { actions_.act("set_memory_budget", {double(bytes)}, true); }
  size_t memory_held() const;
  // Bytes of tensors that kept steps and, beside them, keyframes may take of the run's memory limit.
  size_t most_to_keep() const { return most_to_keep_; }

 private:
  void add_actions();
  bool is_kept(int64_t step) const;
  void show(int64_t step);  // go_to(), as an action carries it out
  void leave();             // go_live(), the same

  Session& session_;
  const TapeModel& tape_;
  const Journal& journal_;
  Actions& actions_;
  ReplayDesk replay_;
  TapePtr replayed_;                 // of the step that a replay repeated, also while it works on another
  std::optional<int64_t> standing_;  // the step that is shown instead of the latest one
  ReplayLimits limits_;              // of the run
  int64_t first_step_ = 1;
  History history_;
  size_t most_to_keep_ = SIZE_MAX;
  size_t memory_budget_ = kHistoryBudget;
  size_t history_budget_ = kHistoryBudget;  // as last given to the session
};

}  // namespace lunagrad
