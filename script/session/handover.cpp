#include "script/session/handover.h"

#include <algorithm>

#include "runtime/ops.h"
#include "runtime/tape/finite.h"
#include "script/inspect/without_listeners.h"
#include "script/lua/guard.h"
#include "script/lua/source.h"
#include "script/lua/state.h"
#include "script/lua/traceback.h"
#include "script/run/folder.h"
#include "script/run/record.h"
#include "script/session/run_bindings.h"

namespace lunagrad {
namespace {

// Limits of keeping a step's states: the bytes, and the time as one part in kPause. The first kFirst times
// are slow and say nothing about later times. In kBeginning nanoseconds of a run each step is kept: most
// errors come early, and the run then goes on behind the last step.
constexpr size_t kMostKept = size_t(256) << 20;
constexpr uint64_t kPause = 12;
constexpr int kFirst = 3;
constexpr double kBeginning = 2e8;

// Argument: a checkpoint's path, or "".
int take_states(lua_State* L) {
  push_states(L, lua_tostring(L, 1));
  return 1;
}

int keep_states(lua_State* L) {
  push_states_to_keep(L);
  return 1;
}

int keyframe_states(lua_State* L) {
  push_states_for_keyframe(L);
  return 1;
}

int write_states(lua_State* L) {
  write_automatic_checkpoint(L);
  return 0;
}

// Calls visit(tensor) for each tensor, which it may replace.
template <class Visit>
void visit_tensors(Kept& kept, const Visit& visit) {
  if (auto* const tensor = std::get_if<Tensor>(&kept.value)) visit(*tensor);
  if (auto* const table = std::get_if<Kept::Table>(&kept.value))
    for (auto& [key, value] : *table) visit_tensors(value, visit);
}

void copy_tensors(Kept& states) {
  const WithoutListeners aside;
  const NoGrad off;
  visit_tensors(states, [](Tensor& x) { x = clone(x); });
}

// How many tensors hold NaN or Inf. Tensors of a device are checked one by one only if a check of all finds
// any.
size_t count_bad(Kept& states) {
  const WithoutListeners aside;
  TensorList there;
  size_t bad = 0;
  visit_tensors(states, [&](Tensor& x) {
    if (x.device().is_cpu())
      bad += !all_finite({x});
    else
      there.push_back(x);
  });
  if (all_finite(there)) return bad;
  for (const Tensor& x : there) bad += !all_finite({x});
  return bad;
}

int64_t step_of(const Kept& states) {
  if (const auto* table = std::get_if<Kept::Table>(&states.value))
    for (const auto& [key, value] : *table)
      if (const auto* name = std::get_if<std::string>(&key.value); name && *name == "step")
        return std::get<int64_t>(value.value);
  return 0;
}

}  // namespace

// The registered states, as a function of the Lua state returns them.
static Kept states_of(lua_State* L, lua_CFunction function, const std::string& argument) {
  lua_State* thread = lua_newthread(L);
  lua_pushcfunction(thread, function);
  lua_pushstring(thread, argument.c_str());
  ScriptError error;
  if (traceback_call(thread, 1, 1, error) != LUA_OK) {
    lua_pop(L, 1);
    throw Error(error.message);
  }
  Kept states = keep(thread, -1);
  lua_pop(L, 1);
  return states;
}

void Handover::take(lua_State* L, const std::string& checkpoint) {
  Kept states = states_of(L, guard<take_states>, checkpoint);
  drop();
  if (std::holds_alternative<std::monostate>(states.value)) return;
  const int64_t step = step_of(states);
  taken_ = Taken{step, std::move(states)};
}

Kept Handover::read(lua_State* L) { return states_of(L, guard<keyframe_states>, ""); }

void Handover::write(lua_State* L) { states_of(L, guard<write_states>, ""); }

bool Handover::may_keep() const {
  return !too_large_ && (times_kept_ < kFirst || ticks() - kept_at_ > kPause * cost_of_keeping_ ||
                         ticks_to_ns(spent_) < kBeginning);
}

void Handover::keep_step(lua_State* L, int64_t step) {
  const uint64_t start = ticks();
  Kept states;
  try {
    states = states_of(L, guard<keep_states>, "");
  } catch (const Error&) {
    too_large_ = true;  // a state cannot be kept; a reload will report why
    return;
  }
  kept_at_ = ticks();
  if (std::holds_alternative<std::monostate>(states.value)) {
    too_large_ = true;  // nothing is registered
    return;
  }
  size_t bytes = 0;
  visit_tensors(states, [&](Tensor& x) { bytes += x.nbytes(); });
  if (bytes > kMostKept) {
    forget_kept_step();
    too_large_ = true;
    return;
  }
  const size_t bad = count_bad(states);
  if (!kept_) bad_ = bad;
  if (bad <= bad_) {
    copy_tensors(states);
    kept_ = Taken{step, std::move(states)};
  }
  kept_at_ = ticks();
  const uint64_t cost = kept_at_ - start;
  spent_ += cost;
  cost_of_keeping_ = times_kept_++ < kFirst ? cost : std::min(cost, cost_of_keeping_);
}

void Handover::take_kept_step() {
  taken_ = kept_;
  copy_tensors(taken_->states);  // because the next script may write to its tensors
}

void Handover::forget_kept_step() {
  kept_.reset();
  too_large_ = false;
  times_kept_ = 0;
  kept_at_ = cost_of_keeping_ = spent_ = 0;
}

std::string Handover::take_after_failure(lua_State* L, Run& run, Outcome outcome, Events& events) {
  const int64_t done = run.done();
  if (kept_ && kept_->step <= done) {
    take_kept_step();
    events.warn(text("the run goes on after step ", taken_->step, ", the last good one that was kept"));
    return {};
  }
  const std::string latest = run.folder() ? latest_checkpoint(run.folder()->path()) : "";
  const auto take_checkpoint = [&] {
    take(L, latest);
    if (taken_) events.warn(text("the run goes on from ", latest));
  };
  std::string why = "nothing is registered with lg.run.state";
  try {
    if (!latest.empty() && (latest == run.folder()->checkpoint_path(done) || outcome == Outcome::numeric)) {
      take_checkpoint();
    } else if (outcome == Outcome::numeric) {
      why = "NaN or Inf ended it, and there is no checkpoint";
    } else {
      take(L, "");
      if (taken_)
        events.warn(text("the run ended within step ", done + 1, "; it goes on after step ", done,
                         " with the states as they were when it ended"));
    }
  } catch (const Error& error) {
    why = error.what();
    if (!latest.empty()) take_checkpoint();
  }
  return why;
}

}  // namespace lunagrad
