#pragma once
// Pauses a run for its breakpoints: tells the control that the list changed or that a breakpoint was met, and
// announces a finding at the run's next safe point. Owns the BreakpointWatch. watch()'s list may be used from
// any thread (breakpoint_watch.h has its own lock), everything else belongs to the session's thread.
#include <functional>
#include <optional>

#include "script/inspect/breakpoint_watch.h"
#include "script/inspect/tape_watch.h"
#include "script/session/events.h"
#include "script/session/run_control.h"
#include "script/session/script_state.h"

namespace lunagrad {

class BreakpointPauses {
 public:
  // `pause` pauses immediately, even inside a backward pass; it is called when an error would follow.
  BreakpointPauses(RunControl&, Events&, const ScriptState&, std::function<void()> pause);
  BreakpointPauses(const BreakpointPauses&) = delete;

  BreakpointWatch& watch() { return watch_; }
  // Takes over the changes that other threads made to the list; false when there are none.
  bool take_over();
  // If a breakpoint was met since the last safe point: binds `it` in the console, shows on the tape what led
  // to it, sends an event, and returns the position at which the run pauses.
  std::optional<PausePosition> announce_finding(TapeWatch&);

 private:
  PausePosition announce(Finding, TapeWatch&);

  RunControl& control_;
  Events& events_;
  const ScriptState& script_;
  BreakpointWatch watch_;
};

}  // namespace lunagrad
