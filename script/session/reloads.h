#pragma once
// Replaces the running script by the changed script. The running script ends as if stopped, at the end of a
// step. The changed script begins at line 1 in a fresh Lua state and gets the states that lg.run.state
// registered (Handover). For the session's thread; it has no lock.
#include <optional>
#include <utility>

#include "script/session/current_run.h"
#include "script/session/events.h"
#include "script/session/handover.h"
#include "script/session/run_control.h"
#include "script/session/script_state.h"
#include "script/session/tasks.h"
#include "script/session/viewers.h"

namespace lunagrad {

class Reloads {
 public:
  Reloads(RunControl& control, CurrentRun& run, Events& events, ScriptState& script, Viewers& viewers,
          Handover& handover, Tasks& tasks)
      : control_(control),
        run_(run),
        events_(events),
        script_(script),
        viewers_(viewers),
        handover_(handover),
        tasks_(tasks) {}
  Reloads(const Reloads&) = delete;

  // At a safe point: reads the changed script of a requested reload, which then waits for the end of the
  // step. If it does not compile, an earlier successor that waits is kept.
  void read();
  // At the end of a step: takes the states for the successor. The script must then end. Returns false when
  // the states cannot be taken.
  bool hand_over();
  // The successor for which the script ended; none when it ended by itself.
  std::optional<Script> take_successor() { return std::exchange(successor_, std::nullopt); }
  // The script to run after a script that ended by itself; none when it does not compile.
  std::optional<Script> successor_when_idle();

 private:
  bool refuses();

  RunControl& control_;
  CurrentRun& run_;
  Events& events_;
  ScriptState& script_;
  Viewers& viewers_;
  Handover& handover_;
  Tasks& tasks_;
  std::optional<Script> successor_;  // runs next: the present script ends for it
};

}  // namespace lunagrad
