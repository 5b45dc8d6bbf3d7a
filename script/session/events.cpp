#include "script/session/events.h"

#include <iostream>
#include <utility>

#include "runtime/core/error.h"
#include "runtime/dist/world.h"

namespace lunagrad {
namespace {

// Longer messages are cut in the middle: a script may raise 50 MB.
constexpr size_t kLongest = size_t(16) << 10;

std::string shortened(std::string message) {
  if (message.size() <= kLongest) return message;
  const auto is_inside = [&](size_t at) { return (message[at] & 0xc0) == 0x80; };  // inside a UTF-8 sequence
  size_t first = kLongest / 2, last = message.size() - kLongest / 4;
  while (first > 0 && is_inside(first)) --first;
  while (last < message.size() && is_inside(last)) ++last;
  return message.substr(0, first) + text("\n… ", last - first, " bytes are left out …\n") +
         message.substr(last);
}

}  // namespace

void Events::emit(Event event) {
  if (run_ && event.time == 0) event.time = run_->seconds();
  using Kind = Event::Kind;
  const bool warns =
      event.kind == Kind::warning || event.kind == Kind::not_finite || event.kind == Kind::growth;
  if (run_ && (warns || event.kind == Kind::output || event.kind == Kind::error)) {
    run_->remember_output(event.kind == Kind::output ? event.text : event.text + "\n");
  }
  // Tells the other ranks which warnings rank 0 printed, so that they do not print them too.
  if (warns && dist::launched_rank() == 0) dist::tell_warning(event.text);
  send(event);
}

void Events::send(const Event& event) {
  if (!sink_) return;
  const std::string thrown = calls_.try_call("the event sink", [&] { sink_(event); });
  if (thrown.empty() || std::exchange(sink_failed_, true)) return;
  Event failure{};
  failure.kind = Event::Kind::error;
  failure.text = "the program's event sink failed: " + thrown;
  std::cerr << "lunagrad: " + failure.text + "\n" << std::flush;
  calls_.try_call("the event sink", [&] { sink_(failure); });
}

void Events::warn(std::string message) {
  Event event{};
  event.kind = Event::Kind::warning;
  event.text = std::move(message);
  emit(std::move(event));
}

void Events::fail(std::string message, SourcePlace place, Outcome outcome, PausePtr pause) {
  Event event{};
  event.kind = Event::Kind::error;
  event.text = shortened(std::move(message));
  event.place = std::move(place);
  event.outcome = outcome;
  event.pause = std::move(pause);
  emit(std::move(event));
}

}  // namespace lunagrad
