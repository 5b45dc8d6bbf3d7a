#pragma once
// Sets and removes breakpoints of the session. Owns nothing: the session keeps the breakpoints, and
// SessionWatches::breakpoints() lists them. Drawing thread only.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "script/session_watches.h"
#include "script/view/tape.h"
#include "ui/record/actions.h"

namespace lunagrad {

class BreakpointActions {
 public:
  // The references outlive this object. `script` gives the path of the window's script.
  BreakpointActions(SessionWatches&, Actions&, std::function<std::string()> script);

  // Sets a breakpoint on a line of a script, or removes it. Returns true when the line has a breakpoint now.
  bool toggle(const SourcePlace&);
  void toggle(const NodeInfo&);  // on the node's line; on its op if the line is unknown

  bool add(const Breakpoint& breakpoint) { return actions_.act("add_breakpoint", {fields_of(breakpoint)}); }
  void change(const Breakpoint&);  // replaces the breakpoint with this id
  void remove(uint64_t id);

 private:
  ActionFields fields_of(const Breakpoint&) const;
  Breakpoint breakpoint_of(const ActionArguments&, size_t argument) const;
  std::string lacks(const ActionArguments&) const;
  const Breakpoint* find(const std::vector<Breakpoint>&, const ActionArguments&) const;

  SessionWatches& session_;
  Actions& actions_;
  const std::function<std::string()> script_;
};

}  // namespace lunagrad
