#pragma once
// Sends a session's events to its sink, with the time of the run, and copies output, warnings and errors to
// the run's log. A sink that throws is reported once, on stderr and to the sink itself. For the session's
// thread; it has no lock.
#include <string>

#include "script/host/host_calls.h"
#include "script/session/current_run.h"

namespace lunagrad {

class Events {
 public:
  Events(EventSink sink, const CurrentRun& run, HostCalls& calls)
      : sink_(std::move(sink)), run_(run), calls_(calls) {}
  Events(const Events&) = delete;

  void emit(Event);
  void warn(std::string message);
  void fail(std::string message, SourcePlace = {}, Outcome = Outcome::ok, PausePtr = nullptr);

 private:
  void send(const Event&);

  const EventSink sink_;
  const CurrentRun& run_;
  HostCalls& calls_;
  bool sink_failed_ = false;
};

}  // namespace lunagrad
