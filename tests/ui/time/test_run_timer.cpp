// When the window ends a run that has reached its time limit.
#include <doctest/doctest.h>

#include "ui/time/run_timer.h"

using namespace lunagrad;
using Due = RunTimer::Due;

namespace {

struct Timed {
  Journal journal;
  RunTimer timer;
  RunTimer::Clock::time_point now = RunTimer::Clock::now();

  void tell(SessionState state) {
    Event event{};
    event.kind = Event::Kind::state;
    event.state = state;
    journal.push(event);
    journal.update();
  }
  void end() {
    Event event{};
    event.kind = Event::Kind::ended;
    journal.push(event);
    tell(SessionState::idle);
  }
  // So many seconds after the last look, with a limit of ten seconds.
  Due look(int after, bool sandbox = true, double limit = 10) {
    now += std::chrono::seconds(after);
    return timer.update(journal, limit, sandbox, now);
  }
};

}  // namespace

TEST_CASE("time limit: a sandboxed script is interrupted, any other may end its step") {
  for (const bool sandbox : {true, false}) {
    Timed run;
    CHECK(run.look(0, sandbox) == Due::nothing);
    run.tell(SessionState::running);
    CHECK(run.look(20, sandbox) == Due::nothing);
    CHECK(run.look(9, sandbox) == Due::nothing);
    CHECK(!run.timer.over());
    CHECK(run.look(1, sandbox) == (sandbox ? Due::interrupt : Due::stop));
    CHECK(run.timer.over());
    CHECK(run.timer.tell());
    CHECK(!run.timer.tell());
    CHECK(run.look(9, sandbox) == Due::nothing);  // the run has time to end
    CHECK(run.look(1, sandbox) == Due::interrupt);
    CHECK(!run.timer.tell());
    run.end();
    CHECK(run.look(100, sandbox) == Due::nothing);
    CHECK(run.timer.over());  // the window still shows it
    run.tell(SessionState::running);
    CHECK(run.look(100, sandbox) == Due::nothing);
    CHECK(!run.timer.over());  // another run has its own time
    CHECK(run.look(9, sandbox) == Due::nothing);
  }
}

TEST_CASE("time limit: pauses do not count, and 0 is no limit") {
  Timed run;
  run.tell(SessionState::running);
  CHECK(run.look(0) == Due::nothing);
  run.tell(SessionState::paused);
  CHECK(run.look(5) == Due::nothing);
  CHECK(run.look(100) == Due::nothing);
  run.tell(SessionState::running);
  CHECK(run.look(100) == Due::nothing);
  CHECK(run.look(4) == Due::nothing);
  CHECK(run.look(0, true, 0) == Due::nothing);
  CHECK(run.look(1) == Due::interrupt);
}

TEST_CASE("time limit: a run that follows another between two looks has its own time") {
  Timed run;
  run.tell(SessionState::running);
  run.look(0);
  run.look(9);
  run.end();
  run.tell(SessionState::running);
  CHECK(run.look(2) == Due::nothing);
  CHECK(run.look(9) == Due::nothing);
  CHECK(run.look(1) == Due::interrupt);
}
