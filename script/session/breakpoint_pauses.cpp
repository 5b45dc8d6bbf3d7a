#include "script/session/breakpoint_pauses.h"

#include <utility>

#include "runtime/core/op_name.h"
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

std::optional<PausePosition> BreakpointPauses::announce_finding(TapeWatch& tape) {
  std::optional<Finding> finding = watch_.take_finding();
  if (!finding) return std::nullopt;
  return announce(std::move(*finding), tape);
}

// The run is paused after the op, or inside the backward pass, that met the breakpoint.
PausePosition BreakpointPauses::announce(Finding finding, TapeWatch& tape) {
  BreakHit& hit = finding.hit;
  if (!finding.node && finding.value.defined()) finding.node = finding.value.node();
  // An optimizer's call has written to a parameter: the call is shown, not the parameter.
  if (finding.node && finding.node->is_leaf() && finding.call) finding.node = {};
  if (finding.node) hit.node = finding.node->id;
  if (finding.value.defined()) bind_console(script_.lua(), "it", finding.value.detach());
  if (const uint64_t shown = tape.show(finding)) hit.node = shown;
  watch_.record(hit);
  Event event{};
  event.kind = Event::Kind::break_hit;
  event.text = hit.explanation;
  event.place = hit.place;
  event.step = hit.step;
  event.breakpoint = hit.breakpoint;
  event.node = hit.node;
  events_.emit(std::move(event));

  using Condition = Breakpoint::Condition;
  PausePosition at;
  if (finding.call) describe(*finding.call, at);
  if (at.results.empty() && finding.value.defined())
    at.results.push_back({hit.backward ? "gradient" : "result", value_text(finding.value)});
  at.reason = finding.breakpoint.condition == Condition::not_finite ? PausePosition::Reason::not_finite
                                                                    : PausePosition::Reason::breakpoint;
  at.step = hit.step;
  at.place = hit.place;
  at.op = hit.op;
  // A function that consists of several ops: the tape has the op that made its result.
  if (finding.node && !finding.node->is_leaf() && !hit.backward)
    if (std::string made = public_op_name(finding.node->label()); made != at.op)
      at.called_as = std::exchange(at.op, std::move(made));
  at.backward = hit.backward;
  at.node = hit.node;
  at.summary =
      at.reason == PausePosition::Reason::not_finite ? hit.summary : lunagrad::describe(finding.breakpoint);
  return at;
}

}  // namespace lunagrad
