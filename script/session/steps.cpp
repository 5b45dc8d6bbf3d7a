// How a script that is paused goes on: to its end, or to the end of an op, a line or a step.
#include "script/lua/edge.h"
#include "script/session/impl.h"

namespace lunagrad {

void Session::Impl::go_on(StepTo to) {
  {
    const std::lock_guard lock(mutex_);
    if (!running_ && !next_) return;
    pause_ = false;
    step_to_ = to;
    // Of the step that a viewer paused amid no more than a part can be shown: its rest goes first.
    rest_first_ = to == StepTo::step_end && amid_step_ && state_.load() == SessionState::paused;
    attention_.store(true);
  }
  changed_.notify_all();
}

void Session::Impl::hook(lua_State* L, lua_Debug* at) {
  Impl& self = of(L);
  if (at->event == LUA_HOOKCOUNT) return self.look_up(L, Place::midst);
  if (!self.lines_watched_) return self.arm_hook(L);
  if (self.task_running_) return;
  lua_getinfo(L, "S", at);
  const Chunk& chunk = edge(L).chunk(*at);
  if (!chunk.library && SourceLine{chunk.file, at->currentline} != self.left_line_)
    self.look_up(L, Place::line);
}

void Session::Impl::arm_hook(lua_State* L, int count, bool lines) {
  lua_sethook(L, hook, LUA_MASKCOUNT | (lines ? LUA_MASKLINE : 0), count);
}

// A hook for lines slows a script down: the first that comes when no line is waited for takes itself away.
void Session::Impl::watch_lines(lua_State* L) {
  lines_watched_ = true;
  left_line_ = L ? script_line(L) : context_.line;
  arm_hook(lua_, kHookCount, true);
  if (L) arm_hook(L, kHookCount, true);
}

bool Session::Impl::reaches(Place place) const {
  return (place == Place::step_end && step_to_ == StepTo::step_end) ||
         (place == Place::op && step_to_ == StepTo::op) || (place == Place::line && step_to_ == StepTo::line);
}

}  // namespace lunagrad
