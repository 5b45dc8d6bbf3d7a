#pragma once
// Sends a session's events to its sink, with the time of the run, and copies output, warnings and errors to
// the run's log. For the session's thread; it has no lock.
#include <string>

#include "script/session/current_run.h"

namespace lunagrad {

class Events {
 public:
  Events(EventSink sink, const CurrentRun& run) : sink_(std::move(sink)), run_(run) {}
  Events(const Events&) = delete;

  void emit(Event);
  void warn(std::string message);
  void fail(std::string message, SourcePlace = {}, Outcome = Outcome::ok, PausePtr = nullptr);

 private:
  const EventSink sink_;
  const CurrentRun& run_;
};

}  // namespace lunagrad
