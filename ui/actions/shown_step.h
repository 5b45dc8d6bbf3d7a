#pragma once
// The step that the window is about, its cursor: the latest one (live), a kept step that the user went back
// to, or any other step, which a replay computes. Owns that choice, the replay with its keyframes, this
// frame's list of kept steps, and the memory budget that kept steps share with textures. Drawing thread only.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "script/session.h"
#include "ui/record/actions.h"
#include "ui/runs/journal.h"
#include "ui/tape/model.h"
#include "ui/time/replay_controller.h"

namespace lunagrad {

class ShownStep {
 public:
  // All references outlive this object. `wake` requests a frame; it is called on any thread.
  ShownStep(Session& session, const TapeModel& tape, const Journal& journal, Actions& actions,
            std::function<void()> wake);

  // Reads the list of kept steps, gives them the memory that textures do not use, and shows the step at which
  // a replay has arrived. Once a frame. Returns true when a replay has ended.
  bool update();
  // A new run begins; a fork's options contain the states of its start. Returns the sink for the run's
  // keyframes.
  std::shared_ptr<KeyframeSink> begin_run(const RunOptions&);

  // The cursor: the run's latest step, or the step that the user went back to. Panels that show another step
  // say so in their headers (Panel::shown_step()). A pause within a step counts as that step as soon as its
  // tape exists.
  int64_t cursor() const { return standing_.value_or(latest_); }
  bool at_replay() const { return replayed_ != nullptr; }  // the cursor is at a step that a replay computed
  int64_t latest() const { return latest_; }               // where the cursor is while it is live
  // The step to which a replay is on its way: the cursor goes there when it arrives.
  std::optional<int64_t> coming() const;
  // The step of the tape that is shown; the run's latest step while there is no tape.
  int64_t step() const { return tape_.tape() ? tape_.tape()->step : journal_.step(); }
  bool live() const { return !standing_; }
  const History& history() const { return history_; }  // as of this frame
  // The tape to show: of the latest step, or of the step that the user went back to. `with_values`: of the
  // latest steps it chooses one whose values are kept, if there is one.
  TapePtr tape(bool with_values) const;
  // The session that has the values of the shown step: the run's session or the replay's.
  Session& session() { return replayed_ && replay_.position() ? replay_.session() : session_; }
  // A number that differs for each session() and each step of a replay; 0: the run's session.
  uint64_t source() const { return replayed_ && replay_.position() ? replay_.position()->number : 0; }

  void stand_on(int64_t step);  // the kept step nearest to `step`
  void move(int by);  // to the next kept step (1) or the previous one (-1); past the last one it goes live
  void go_live();
  // Shows exactly this step: immediately if it is kept or the latest one, otherwise when a replay has arrived
  // there.
  void go_to(int64_t step);
  // A kept step that lacks some or all of its values: repeat() gets them by a replay.
  bool lacks_values(int64_t step) const;
  void repeat(int64_t step) { actions_.act("repeat_step", {double(step)}, true); }
  void cancel_replay() { actions_.act("cancel_replay"); }
  bool at_hand(int64_t step) const;  // whether go_to() needs no replay
  ReplayController::Cost cost(int64_t step) const { return replay_.cost(step, run_now()); }
  int64_t first_step() const { return first_step_; }  // the run's first step; later than 1 in a fork
  int64_t last_step() const { return journal_.step(); }
  // Whether the shown tape comes from a replay: it may arrive later than the cursor.
  bool replayed() const { return replayed_ && tape_.tape() && tape_.tape()->step == replayed_->step; }
  ReplayController::RunNow run_now() const;
  ReplayController& replay() { return replay_; }
  const ReplayController& replay() const { return replay_; }
  void follow_run() { leave(); }  // go_live() as a part of another action

  // The bytes that kept steps and textures may use together, and the bytes that they use now.
  size_t memory_budget() const { return memory_budget_; }
  void set_memory_budget(size_t bytes) { actions_.act("set_memory_budget", {double(bytes)}, true); }
  size_t memory_held() const;
  // The bytes of the run's memory limit that tensors of kept steps and of keyframes may use.
  size_t most_to_keep() const { return most_to_keep_; }

 private:
  void add_actions();
  bool is_kept(int64_t step) const;
  void show(int64_t step);  // what the action of go_to() does
  void leave();             // what the action of go_live() does

  Session& session_;
  const TapeModel& tape_;
  const Journal& journal_;
  Actions& actions_;
  ReplayController replay_;
  TapePtr replayed_;  // tape of the step that a replay computed, also while the replay computes another step
  std::optional<int64_t> standing_;  // the step that is shown instead of the latest one
  int64_t latest_ = 0;
  ReplayLimits limits_;  // limits of the run
  int64_t first_step_ = 1;
  History history_;
  size_t most_to_keep_ = SIZE_MAX;
  size_t memory_budget_ = kHistoryBudget;
  size_t history_budget_ = kHistoryBudget;  // the budget last given to the session
};

}  // namespace lunagrad
