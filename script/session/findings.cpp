#include "script/session/findings.h"

#include "runtime/core/error.h"

namespace lunagrad {

Event event_of(const FiniteSentry::Found& found) {
  Event event{};
  event.kind = Event::Kind::not_finite;
  event.step = found.step;
  event.since = found.since;
  event.place = found.place;
  event.node = found.node;
  event.text = text(found.nan ? "NaN" : "Inf", found.step > 0 ? text(" since step ", found.step) : "", ": ",
                    found.what);
  if (!found.explanation.empty()) event.text += "\n" + found.explanation;
  return event;
}

Event event_of(const GrowthWatch::Found& found, const Run& run) {
  Event event{};
  event.kind = Event::Kind::growth;
  event.step = run.done();
  event.place = found.place;
  event.subject = found.name;
  event.text =
      text("'", found.name, "' holds the graphs of ", found.steps, " steps and grows from step to step",
           found.place.line > 0 ? ", at " + file_and_line(found.place) : "",
           ": add numbers, as with loss:item(), or loss:detach()");
  return event;
}

Event event_of(const ProbeWatch::Reading& reading, const Run& run) {
  Event event{};
  event.kind = Event::Kind::probe;
  event.step = run.step();
  event.time = run.seconds();
  event.probe = reading.probe.id;
  event.text = reading.error;
  event.place = reading.probe.place;
  event.metrics.emplace_back(reading.probe.name, reading.value);
  return event;
}

}  // namespace lunagrad
