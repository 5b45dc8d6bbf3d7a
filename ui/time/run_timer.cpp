#include "ui/time/run_timer.h"

namespace lunagrad {
namespace {

constexpr double kStepGrace = 10;  // seconds in which a step may end after the limit, as in lunagrad run

}  // namespace

void RunTimer::begin() {
  over_ = reported_ = runs_ = false;
  counted_ = next_ = 0;
}

RunTimer::Due RunTimer::update(const Journal& journal, double seconds, bool sandbox, Clock::time_point now) {
  // Between two calls a run may end and the next one begin.
  if (journal.active() && (!active_ || journal.ends() != ends_)) begin();
  active_ = journal.active();
  ends_ = journal.ends();
  if (runs_) counted_ += std::chrono::duration<double>(now - looked_).count();
  looked_ = now;
  runs_ = active_ && journal.state() != SessionState::paused;
  if (!runs_ || seconds <= 0) return Due::nothing;
  if (!over_) next_ = seconds;
  if (counted_ < next_) return Due::nothing;
  next_ = counted_ + kStepGrace;
  return std::exchange(over_, true) || sandbox ? Due::interrupt : Due::stop;
}

}  // namespace lunagrad
