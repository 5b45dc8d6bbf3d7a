#pragma once
// What a reload hands from one script to the next: the values that lg.run.state registered, taken from the
// Lua state that ends or from a checkpoint, and the number of the last step that ended. It is kept until the
// new script has ended a step of its own. Tensors are shared, not copied. In an interactive run it also keeps
// a copy of the states after the latest good step, from which a run with an error or a NaN goes on. For the
// session's thread; it has no lock.
#include <lua.hpp>
#include <optional>
#include <string>
#include <vector>

#include "script/lua/kept.h"
#include "script/session/events.h"
#include "script/session/run_control.h"

namespace lunagrad {

class Handover {
 public:
  explicit operator bool() const { return taken_.has_value(); }
  int64_t step() const { return taken_->step; }
  const Kept* states() const { return taken_ ? &taken_->states : nullptr; }
  void drop() { taken_.reset(); }
  void steps_done(int64_t done) {
    if (taken_ && done > taken_->step) drop();
  }
  // Takes what is registered, or with a path what that checkpoint holds; nothing when nothing is registered.
  // Throws Error and keeps what it had.
  void take(lua_State*, const std::string& checkpoint);
  // What is registered, with the positions of the data loaders: for a keyframe. Throws Error.
  static Kept read(lua_State*);
  // Takes states from elsewhere, of a run that was at `step`.
  void give(int64_t step, Kept states) { taken_ = Taken{step, std::move(states)}; }
  // Writes the automatic checkpoint. Throws Error.
  static void write(lua_State*);
  // Keeps the states after `step`, instead of those of the step before, within the budgets of bytes and of
  // time (handover.cpp). Nothing happens when a tensor has become NaN or Inf.
  void keep_step(lua_State*, int64_t step);
  bool may_keep() const;  // it is time to
  std::optional<int64_t> kept_step() const {
    return kept_ ? std::optional<int64_t>(kept_->step) : std::nullopt;
  }
  void take_kept_step();  // there is one
  void forget_kept_step();
  // Takes the states of a script that failed, with a warning that says from where: those of the step that was
  // kept; else the checkpoint of the last step if there is one, since an error leaves the registered states
  // as they were inside a step; after NaN or Inf a checkpoint of any step. Returns why there is none.
  std::string take_after_failure(lua_State*, Run&, Outcome, Events&);

 private:
  struct Taken {
    int64_t step;
    Kept states;
  };
  std::optional<Taken> taken_, kept_;
  bool too_large_ = false;  // for the budget of bytes, or nothing is registered
  int times_kept_ = 0;
  size_t bad_ = 0;                              // tensors that were not finite when a step was kept first
  uint64_t kept_at_ = 0, cost_of_keeping_ = 0;  // ticks
};

// The changed script: the given text, or its file read again. Nothing when it or a module of it does not
// compile, which is an error event. `goes_on`: the script still runs.
std::optional<Script> read_successor(const CurrentRun&, const RunControl::Reload&, bool goes_on, Events&);
// The script runs from its first step in a run folder of its own; an event says why.
void start_anew(Script&, const std::string& why, Events&);

}  // namespace lunagrad
