#include "script/session/pausing.h"

#include <utility>

namespace lunagrad {
namespace {

// Long enough for most steps, short enough to go unnoticed: users expect an answer within 100 ms.
constexpr std::chrono::milliseconds kPauseGrace{40};

}  // namespace

void Pausing::go_on(StepTo to, bool paused) {
  pause_ = false;
  step_to_ = to;
  ended_ = StepTo::nothing;
  // Only part of an interrupted step can be shown: run the rest of it and then one whole step.
  rest_first_ = to == StepTo::step_end && inside_step_ && paused;
}

bool Pausing::cancel() { return std::exchange(pause_, false); }

void Pausing::reached(SafePlace place) {
  const bool ends = (place == SafePlace::step_end && step_to_ == StepTo::step_end) ||
                    (place == SafePlace::op && step_to_ == StepTo::op) ||
                    (place == SafePlace::line && step_to_ == StepTo::line);
  if (!ends || std::exchange(rest_first_, false)) return;
  const StepTo ended = std::exchange(step_to_, StepTo::nothing);
  ask();
  ended_ = ended;
}

bool Pausing::granted_at(SafePlace place, bool in_steps, bool whole_step, Clock::time_point now) const {
  if (!pause_) return false;
  if (!viewer_asked_ || !in_steps) return true;
  if (place == SafePlace::step_end && whole_step) return true;
  return now - *viewer_asked_ > kPauseGrace;
}

void Pausing::begin(SafePlace place, bool in_steps, bool whole_step) {
  inside_step_ = viewer_asked_ && place != SafePlace::step_end && in_steps && !whole_step;
  viewer_asked_.reset();
}

}  // namespace lunagrad
