#include "ui/actions/breakpoint_actions.h"

namespace lunagrad {

bool BreakpointActions::toggle(const SourcePlace& place) {
  bool removed = false;
  for (const Breakpoint& known : session_.breakpoints())
    if (known.condition == Breakpoint::Condition::line && known.place == place)
      removed |= session_.remove_breakpoint(known.id);
  if (removed) return false;
  Breakpoint line;
  line.condition = Breakpoint::Condition::line;
  line.pass = Breakpoint::Pass::forward;
  line.place = place;
  return session_.add_breakpoint(line) != 0;
}

void BreakpointActions::toggle(const NodeInfo& node) {
  if (node.place.line > 0) {
    toggle(node.place);
    return;
  }
  for (const Breakpoint& known : session_.breakpoints())
    if (known.condition == Breakpoint::Condition::op && known.text == node.op) {
      session_.remove_breakpoint(known.id);
      return;
    }
  Breakpoint op;
  op.condition = Breakpoint::Condition::op;
  op.text = node.op;
  session_.add_breakpoint(op);
}

}  // namespace lunagrad
