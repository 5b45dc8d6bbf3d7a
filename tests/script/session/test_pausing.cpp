// The pause and step state machine alone: no thread, no script.
#include <doctest/doctest.h>

#include "script/session/pausing.h"

using namespace lunagrad;
using namespace std::chrono_literals;

namespace {

const Pausing::Clock::time_point kNow = Pausing::Clock::now();

bool granted(const Pausing& pausing, SafePlace place, bool in_steps = true, bool whole_step = true) {
  return pausing.granted_at(place, in_steps, whole_step, kNow);
}

}  // namespace

TEST_CASE("a pause is granted at the next safe point") {
  Pausing pausing;
  CHECK(!granted(pausing, SafePlace::midst));
  pausing.ask();
  CHECK(granted(pausing, SafePlace::midst));
  pausing.go_on(StepTo::nothing, true);
  CHECK(!pausing.near());
}

TEST_CASE("a viewer's pause waits up to 40 ms for the end of a captured step") {
  Pausing pausing;
  pausing.ask();
  pausing.let_step_end(kNow);
  CHECK(!granted(pausing, SafePlace::op));
  CHECK(granted(pausing, SafePlace::op, false));  // outside lg.run.steps
  CHECK(granted(pausing, SafePlace::step_end));
  CHECK(!granted(pausing, SafePlace::step_end, true, false));  // the step is not captured as a whole
  CHECK(!pausing.granted_at(SafePlace::op, true, true, kNow + 40ms));
  CHECK(pausing.granted_at(SafePlace::op, true, true, kNow + 41ms));
}

TEST_CASE("a single step ends at its own kind of safe point") {
  for (const auto& [to, place] :
       {std::pair(StepTo::op, SafePlace::op), std::pair(StepTo::line, SafePlace::line),
        std::pair(StepTo::step_end, SafePlace::step_end)}) {
    Pausing pausing;
    pausing.go_on(to, true);
    for (const SafePlace other : {SafePlace::midst, SafePlace::op, SafePlace::line, SafePlace::step_end}) {
      if (other == place) continue;
      pausing.reached(other);
      CHECK(!granted(pausing, other));
    }
    pausing.reached(place);
    CHECK(granted(pausing, place));
    CHECK(pausing.step_to() == StepTo::nothing);
  }
}

TEST_CASE("a step after a viewer's pause inside a step runs the rest of it and one whole step") {
  Pausing pausing;
  pausing.ask();
  pausing.let_step_end(kNow - 1s);
  pausing.begin(SafePlace::op, true, false);
  pausing.go_on(StepTo::step_end, true);
  pausing.reached(SafePlace::step_end);  // the rest
  CHECK(!granted(pausing, SafePlace::step_end));
  pausing.reached(SafePlace::step_end);
  CHECK(granted(pausing, SafePlace::step_end));
}

TEST_CASE("a paused script that is reloaded runs to the end of its step") {
  Pausing pausing;
  pausing.finish_step_first();  // nothing was asked for
  CHECK(!pausing.near());
  pausing.ask();
  pausing.finish_step_first();
  CHECK(!granted(pausing, SafePlace::op));
  pausing.reached(SafePlace::step_end);
  CHECK(granted(pausing, SafePlace::step_end));
}
