// A host that steps its script: pauses before the first line, single steps that are waited for, and the
// values of lg.host while the run is paused.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/ops.h"
#include "tests/support/recorder.h"
#include "tests/support/resident.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// Notes each step and the host's value that it saw.
const char* const kSteps = R"(
local lg = require "lunagrad"
lg.host.begun = 1
for step in lg.run.steps(4) do
  lg.host.step = step
  lg.host.seen = lg.host.input * 10
end
lg.host.over = 1)";

double value(Session& session, const char* name) {
  const Tensor x = session.get(name);
  return x.defined() ? x.item() : -1;
}

}  // namespace

TEST_CASE("a host steps a run that it paused before it began, and reads and sets values between the steps") {
  Recorder recorder;
  Session& session = recorder.session;
  session.pause();
  session.set("input", full({}, 1));
  recorder.run(kSteps);
  REQUIRE(recorder.reaches(SessionState::paused));
  CHECK(value(session, "begun") == -1);
  CHECK(recorder.events(Event::Kind::state).back().place.line == 2);
  for (int step = 1; step <= 4; ++step) {
    CAPTURE(step);
    CHECK(session.set("input", full({}, step)));
    CHECK(session.step_and_wait(kHangSeconds) == StepEnd::stepped);
    CHECK(session.state() == SessionState::paused);
    CHECK(value(session, "step") == step);
    // The value was set before the script's first line, or at the pause before this step.
    CHECK(value(session, "seen") == 10 * step);
  }
  CHECK(session.step_and_wait(kHangSeconds) == StepEnd::ended);
  CHECK(value(session, "over") == 1);
  CHECK(session.step_and_wait(kHangSeconds) == StepEnd::ended);  // there is no run
}

TEST_CASE("step_and_wait begins with a run that has not started") {
  Recorder recorder;
  recorder.session.set("input", ones({}));
  recorder.run(kSteps);
  const StepEnd first = recorder.session.step_and_wait(kHangSeconds);
  if (first == StepEnd::ended) return;  // the run was quicker
  CHECK(first == StepEnd::stepped);
  CHECK(value(recorder.session, "step") >= 1);
}

TEST_CASE("step_and_wait tells a timeout and a pause inside the step") {
  Recorder recorder;
  Session& session = recorder.session;
  RunOptions options;
  options.interactive = true;
  session.pause();
  recorder.run(R"(
    local lg = require "lunagrad"
    for step in lg.run.steps(3) do
      if step == 2 then lg.run.breakpoint() end
      while step == 3 and not free do end
    end)",
               options);
  CHECK(session.step_and_wait(kHangSeconds) == StepEnd::stepped);
  CHECK(session.step_and_wait(kHangSeconds) == StepEnd::paused);
  CHECK(session.step_and_wait(kHangSeconds) == StepEnd::stepped);
  CHECK(session.step_and_wait(0.05) == StepEnd::timed_out);
  CHECK(recorder.eval("free = true"));
  CHECK(recorder.reaches(SessionState::paused));
  CHECK(session.step_and_wait() == StepEnd::ended);
}

TEST_CASE("a pause before a run is taken back by resume and by stop, and holds for one run") {
  Recorder recorder;
  recorder.session.pause();
  recorder.session.resume();
  CHECK(recorder.finish("print(1)") == Outcome::ok);
  recorder.session.pause();
  recorder.session.stop();
  CHECK(recorder.finish("print(2)") == Outcome::ok);
  recorder.session.pause();
  recorder.run("print(3)");
  REQUIRE(recorder.reaches(SessionState::paused));
  CHECK(recorder.output() == "1\n2\n");
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.finish("print(4)") == Outcome::ok);
  CHECK(recorder.output() == "1\n2\n3\n4\n");
}

TEST_CASE("a pause holds for the run that waits for another one's end") {
  Recorder recorder;
  recorder.run("print('go') while true do end");
  REQUIRE(recorder.printed("go"));
  recorder.run("print('second')");
  recorder.session.pause();
  REQUIRE(recorder.reaches(SessionState::paused));
  CHECK(recorder.output() == "go\n");
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output() == "go\nsecond\n");
}

TEST_CASE("a run with the library preloaded pauses before its own first line") {
  Recorder recorder;
  RunOptions options;
  options.preload = true;
  recorder.session.pause();
  recorder.run("print(lg ~= nil)", options);
  REQUIRE(recorder.reaches(SessionState::paused));
  const SourcePlace place = recorder.events(Event::Kind::state).back().place;
  CHECK(place.file == "test");
  CHECK(place.line == 1);
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output() == "true\n");
}

TEST_CASE("many sessions at once") {
  const char* const script = R"(
    local lg = require "lunagrad"
    for step in lg.run.steps(2) do lg.host.found = lg.host.input + step end)";
  RunOptions options;
  options.write_run = false;
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 64; ++i) {
    sessions.push_back(std::make_unique<Session>(EventSink()));
    sessions.back()->set("input", full({}, i));
    sessions.back()->run_text(script, "many", options);
  }
  for (int i = 0; i < 64; ++i) {
    CHECK(sessions[size_t(i)]->wait() == Outcome::ok);
    CHECK(value(*sessions[size_t(i)], "found") == i + 2);
  }
}

TEST_CASE("sessions take no more memory than the first ones" * doctest::skip(kSanitized)) {
  RunOptions options;
  options.write_run = false;
  int together = 1;
  SUBCASE("one after another") {}
  SUBCASE("64 at a time") { together = 64; }
  const auto run_sessions = [&](int count) {
    for (int done = 0; done < count; done += together) {
      std::vector<std::unique_ptr<Session>> sessions;
      for (int i = 0; i < together; ++i) {
        sessions.push_back(std::make_unique<Session>(EventSink()));
        sessions.back()->run_text("local lg = require 'lunagrad' lg.host.found = lg.ones(8):sum()", "many",
                                  options);
      }
      for (const auto& session : sessions) CHECK(session->wait() == Outcome::ok);
    }
  };
  run_sessions(100);
  const ResidentPeak peak;
  run_sessions(std::getenv("LUNAGRAD_TEST_ALL") ? 10000 : 200);
  CHECK(peak.grown() < size_t(8) << 20);
}

TEST_SUITE_END();
