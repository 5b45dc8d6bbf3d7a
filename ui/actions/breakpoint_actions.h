#pragma once
// Sets and removes breakpoints of the session. Owns nothing: the session keeps the breakpoints, and
// Session::breakpoints() lists them. Drawing thread only.
#include <cstdint>

#include "script/session.h"

namespace lunagrad {

class BreakpointActions {
 public:
  explicit BreakpointActions(Session& session) : session_(session) {}  // which outlives this object

  // Sets a breakpoint on a line of a script, or removes it. True: there is one now.
  bool toggle(const SourcePlace&);
  void toggle(const NodeInfo&);  // on the node's line; on its op if the line is unknown

  uint64_t add(const Breakpoint& breakpoint) { return session_.add_breakpoint(breakpoint); }  // 0: refused
  void change(const Breakpoint& breakpoint) { session_.change_breakpoint(breakpoint); }
  void remove(uint64_t id) { session_.remove_breakpoint(id); }

 private:
  Session& session_;
};

}  // namespace lunagrad
