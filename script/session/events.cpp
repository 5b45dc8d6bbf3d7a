#include "script/session/events.h"

namespace lunagrad {

void Events::emit(Event event) {
  if (run_ && event.time == 0) event.time = run_->seconds();
  if (run_ && (event.kind == Event::Kind::output || event.kind == Event::Kind::warning ||
               event.kind == Event::Kind::error)) {
    run_->remember_output(event.kind == Event::Kind::output ? event.text : event.text + "\n");
  }
  sink_(event);
}

void Events::warn(std::string message) {
  Event event{};
  event.kind = Event::Kind::warning;
  event.text = std::move(message);
  emit(std::move(event));
}

void Events::fail(std::string message, SourcePlace place, Outcome outcome) {
  Event event{};
  event.kind = Event::Kind::error;
  event.text = std::move(message);
  event.place = std::move(place);
  event.outcome = outcome;
  emit(std::move(event));
}

}  // namespace lunagrad
