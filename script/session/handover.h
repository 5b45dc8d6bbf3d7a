#pragma once
// What a reload passes from one script to the next: the values that lg.run.state registered, taken from the
// Lua state that ends or from a checkpoint, and the number of the last completed step. They are kept until
// the new script has completed a step. Tensors are shared, not copied. In an interactive run it also keeps a
// copy of the states after the latest good step, from which a run continues after an error or a NaN. For the
// session's thread; it has no lock.
#include <lua.hpp>
#include <optional>
#include <string>
#include <vector>

#include "script/lua/kept.h"
#include "script/run/run.h"
#include "script/session/events.h"

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
  // Takes the registered states, or with a path the states in that checkpoint; takes nothing when nothing is
  // registered. If it throws an Error, the earlier states are kept.
  void take(lua_State*, const std::string& checkpoint);
  // The registered states with the positions of the data loaders, for a keyframe. Throws Error.
  static Kept read(lua_State*);
  // Sets states that come from elsewhere, of a run that was at `step`.
  void give(int64_t step, Kept states) { taken_ = Taken{step, std::move(states)}; }
  // Writes the automatic checkpoint. Throws Error.
  static void write(lua_State*);
  // Replaces the kept states by the states after `step`, within the budgets of bytes and of time
  // (handover.cpp). Does nothing when a tensor has become NaN or Inf.
  void keep_step(lua_State*, int64_t step);
  bool may_keep() const;  // enough time has passed
  std::optional<int64_t> kept_step() const {
    return kept_ ? std::optional<int64_t>(kept_->step) : std::nullopt;
  }
  void take_kept_step();  // requires kept_step()
  void forget_kept_step();
  // Takes states after a script failed, and warns where they come from. First choice: the states of the kept
  // step. Second: the checkpoint of the last step, since an error leaves the registered states in the middle
  // of a step; after NaN or Inf, a checkpoint of any step. Returns why there is none.
  std::string take_after_failure(lua_State*, Run&, Outcome, Events&);

 private:
  struct Taken {
    int64_t step;
    Kept states;
  };
  std::optional<Taken> taken_, kept_;
  bool too_large_ = false;  // exceeds the budget of bytes, cannot be kept, or nothing is registered
  int times_kept_ = 0;
  size_t bad_ = 0;                              // tensors that were not finite when a step was first kept
  uint64_t kept_at_ = 0, cost_of_keeping_ = 0;  // ticks
  uint64_t spent_ = 0;                          // ticks, on keeping since the run began
};

}  // namespace lunagrad
