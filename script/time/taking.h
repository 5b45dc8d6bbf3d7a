#pragma once
// Takes the keyframes of a run: asks the sinks at the end of each step of lg.run.steps, copies the registered
// states once, and passes them to all sinks. For the session's thread.
#include <functional>
#include <lua.hpp>
#include <memory>
#include <string>
#include <vector>

#include "script/lua/kept.h"
#include "script/run/run.h"
#include "script/time/keyframe.h"

namespace lunagrad {

class KeyframeTaker {
 public:
  using States = std::function<Kept(lua_State*)>;  // nil when nothing is registered; throws Error
  using Warn = std::function<void(const std::string&)>;
  KeyframeTaker(States states, Warn warn) : states_(std::move(states)), warn_(std::move(warn)) {}

  void begin_run(const RunOptions&);
  // Called at the beginning of the loop of steps, and at the end of each step. Returns whether end_step()
  // shall take a keyframe.
  bool wants(const Run&);
  void end_step(lua_State*, Run&);

 private:
  const States states_;
  const Warn warn_;
  std::vector<std::shared_ptr<KeyframeSink>> sinks_, wanting_;
  void begin_steps(const Run&);

  bool begun_ = false;
  bool given_up_ = false;  // nothing is registered, or the states cannot be kept
};

}  // namespace lunagrad
