#include "script/session/breakpoint_pauses.h"

#include "script/session/console.h"

namespace lunagrad {

BreakpointPauses::BreakpointPauses(RunControl& control, Events& events, const ScriptState& script,
                                   std::function<void()> pause)
    : control_(control),
      events_(events),
      script_(script),
      watch_({.changed = [this] { control_.viewers_changed(); },
              .found = [this] { control_.pause_at_once(); },
              .pause = std::move(pause),
              .state = [this] { return script_.lua(); },
              .ending = [this] { return script_.unwinding(); },
              .warn = [this](const std::string& message) { events_.warn(message); }}) {}

bool BreakpointPauses::take_over() {
  if (!control_.take_viewers_changed()) return false;
  watch_.take_over();
  return true;
}

void BreakpointPauses::announce_finding(TapeWatch& tape) {
  if (std::optional<Finding> finding = watch_.take_finding()) announce(std::move(*finding), tape);
}

// The run is paused after the op, or inside the backward pass, that met the breakpoint.
void BreakpointPauses::announce(Finding finding, TapeWatch& tape) {
  BreakHit& hit = finding.hit;
  if (!finding.node && finding.value.defined()) finding.node = finding.value.node();
  if (finding.node) hit.node = finding.node->id;
  if (finding.value.defined()) bind_console(script_.lua(), "it", finding.value.detach());
  tape.show(finding);
  watch_.record(hit);
  Event event{};
  event.kind = Event::Kind::break_hit;
  event.text = hit.explanation;
  event.place = hit.place;
  event.step = hit.step;
  event.breakpoint = hit.breakpoint;
  event.node = hit.node;
  events_.emit(std::move(event));
}

}  // namespace lunagrad
