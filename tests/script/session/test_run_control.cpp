// Commands to a session in each of its states: idle, running, paused, stopping. Also single steps of one op,
// evaluations between ops and inside a backward pass, parameters that are never read.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/support/recorder.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;
using namespace lunagrad::tests;
using Kind = Event::Kind;

namespace {

// A script that counts its ops and steps.
const char* const kCounting = R"(
local lg = require "lunagrad.core"
ops, done = 0, 0
local x = lg.ones(3)
print("go")
while not begin do end
for step in lg.run.steps() do
  for _ = 1, 3 do x = x * 1; ops = ops + 1 end
  done = step
end
)";

std::string shown(Recorder& recorder, const std::string& expression) {
  const size_t before = recorder.output().size();
  REQUIRE(recorder.eval("print(" + expression + ")"));
  const std::string output = recorder.output();
  return output.substr(before, output.size() - before - 1);
}

// Keeps the session's thread in a task, so that later requests wait.
class Held {
 public:
  explicit Held(Recorder& recorder) {
    std::promise<void> begun;
    recorder.session.find_leaks([&begun, released = release_.get_future().share()] {
      begun.set_value();
      released.wait();
    });
    begun.get_future().wait();
  }
  ~Held() { release_.set_value(); }
  Held(const Held&) = delete;

 private:
  std::promise<void> release_;
};

// A session that is paused before the first op.
void stand_before_ops(Recorder& recorder) {
  recorder.run(kCounting);
  REQUIRE(recorder.pauses_after("go"));
  REQUIRE(recorder.eval("begin = true"));
}

}  // namespace

TEST_CASE("step_op runs to the end of the next op, across steps; step to the end of the step") {
  Recorder recorder;
  stand_before_ops(recorder);
  for (int op = 1; op <= 7; ++op) {
    recorder.session.step_op();
    REQUIRE(recorder.pauses_again());
    // The op has run; the Lua code after it has not.
    CHECK(shown(recorder, "ops") == std::to_string(op - 1));
    CHECK(shown(recorder, "done") == std::to_string((op - 1) / 3));
  }
  recorder.session.step();
  REQUIRE(recorder.pauses_again());
  CHECK(shown(recorder, "ops, done") == "9\t3");
  recorder.session.step_op();
  REQUIRE(recorder.pauses_again());
  CHECK(shown(recorder, "ops") == "9");
  recorder.session.stop();
  CHECK(recorder.session.wait() == Outcome::stopped);
}

TEST_CASE("step_line runs to the next line, into the script's functions and over the library's") {
  Recorder recorder;
  recorder.run(R"(local lg = require "lunagrad"
local net = lg.nn.Linear(2, 1)
local function twice(x)
  return x * 2
end
print("go") while not begin do end
for step in lg.run.steps(2) do
  local y = net(lg.ones(1, 2)):sum()
  y = twice(y)
  pcall(function() y:backward() end)
end
print("done"))");
  REQUIRE(recorder.pauses_after("go"));
  REQUIRE(recorder.eval("begin = true"));
  const auto line = [&] { return recorder.events(Kind::state).back().place.line; };
  CHECK(line() == 6);
  for (const int next : {7, 8, 9, 4, 10, 7, 8}) {
    recorder.session.step_line();
    REQUIRE(recorder.pauses_again());
    CHECK(line() == next);
  }
  SUBCASE("inside a step that step_op or step ends") {
    recorder.session.step_op();
    REQUIRE(recorder.pauses_again());
    CHECK(line() == 8);
    recorder.session.step();
    REQUIRE(recorder.pauses_again());
    recorder.session.step_line();
    REQUIRE(recorder.pauses_again());
    CHECK(line() == 11);  // at the end of the loop
    recorder.session.resume();
    CHECK(recorder.session.wait() == Outcome::ok);
  }
  SUBCASE("it can be stopped and paused while no new line is reached") {
    REQUIRE(recorder.eval("begin = false"));
    recorder.session.stop();
    CHECK(recorder.session.wait() == Outcome::stopped);
  }
}

TEST_CASE("step_op counts a backward pass and an assignment as ops") {
  Recorder recorder;
  recorder.run(R"(
    local lg = require "lunagrad.core"
    local x = lg.ones(3, {requires_grad = true})
    print("go") while not begin do end
    local y = x:sum() place = "sum"
    y:backward() place = "backward"
    x.grad[1] = 5 place = "assignment"
    while true do end)");
  REQUIRE(recorder.pauses_after("go"));
  REQUIRE(recorder.eval("begin = true"));
  for (const char* before : {"nil", "sum", "backward"}) {
    recorder.session.step_op();
    REQUIRE(recorder.pauses_again());
    CHECK(shown(recorder, "place") == before);
  }
  recorder.session.step_op();  // there is no further op: it runs until the next command
  REQUIRE(recorder.reaches(SessionState::running));
  recorder.session.pause();
  REQUIRE(recorder.pauses_again());
  CHECK(shown(recorder, "place") == "assignment");
  recorder.session.interrupt();
  CHECK(recorder.session.wait() == Outcome::stopped);
}

TEST_CASE("commands in the wrong state do nothing") {
  Recorder recorder;
  const auto all = [&] {
    recorder.session.pause();
    recorder.session.resume();
    recorder.session.step();
    recorder.session.step_op();
    recorder.session.stop();
    recorder.session.interrupt();
    recorder.session.reload();
  };
  all();
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.session.state() == SessionState::idle);
  CHECK(recorder.finish("print('one')") == Outcome::ok);
  recorder.session.pause();
  recorder.session.step();
  recorder.session.step_op();
  recorder.session.stop();
  CHECK(recorder.finish("print('two')") == Outcome::ok);
  CHECK(recorder.output() == "one\ntwo\n");
}

TEST_CASE("a run that is stopped before its first line runs nothing and sends its end") {
  Recorder recorder;
  const auto ends_stopped = [&](size_t count) {
    CHECK(recorder.session.wait() == Outcome::stopped);
    const std::vector<Event> ended = recorder.events(Kind::ended);
    REQUIRE(ended.size() == count);
    CHECK(ended.back().outcome == Outcome::stopped);
    CHECK(ended.back().exit_code == int(Outcome::stopped));
    CHECK(recorder.events(Kind::state).size() == 2 * count);  // running, idle
    CHECK(recorder.output() == "");
    CHECK(recorder.error() == "");
  };
  SUBCASE("while it waits, by a stop or an interrupt") {
    {
      const Held held(recorder);
      recorder.run("print('one')");
      recorder.session.stop();
      recorder.session.stop();
    }
    ends_stopped(1);
    {
      const Held held(recorder);
      recorder.run("print('two')");
      recorder.session.interrupt();
    }
    ends_stopped(2);
    {
      const Held held(recorder);
      recorder.run("print('three')");
      recorder.session.pause();
      recorder.session.stop();
    }
    ends_stopped(3);
  }
  SUBCASE("when it has begun") {
    recorder.also = [&](const Event& event) {
      if (event.kind == Kind::state && event.state == SessionState::running &&
          recorder.events(Kind::ended).empty())
        recorder.session.stop();
    };
    recorder.run("print('one')");
    ends_stopped(1);
  }
  CHECK(recorder.finish("print('after')") == Outcome::ok);
  CHECK(recorder.output() == "after\n");
}

TEST_CASE("a start takes the place of one that waits, also of a stopped one") {
  Recorder recorder;
  {
    const Held held(recorder);
    recorder.run("print('one')");
    recorder.run("print('two')");
    recorder.session.stop();
    recorder.run("print('three')");
  }
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output() == "three\n");
  CHECK(recorder.events(Kind::ended).size() == 1);
}

TEST_CASE("a stop ends the running script and the script that waits for its end") {
  Recorder recorder;
  const auto run_one = [&] {
    recorder.run("print('one') while true do end");
    REQUIRE(recorder.printed("one"));
  };
  SUBCASE("together") {
    run_one();
    recorder.run("print('two')");
    SUBCASE("stop") { recorder.session.stop(); }
    SUBCASE("interrupt") { recorder.session.interrupt(); }
  }
  SUBCASE("at the end of the running script, before the other begins") {
    recorder.also = [&](const Event& event) {
      if (event.kind != Kind::ended || recorder.events(Kind::ended).size() > 1) return;
      recorder.run("print('two')");
      recorder.session.stop();
    };
    run_one();
    recorder.session.stop();
  }
  REQUIRE(recorder.saw(Kind::ended, 2));
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(recorder.output() == "one\n");
  CHECK(recorder.finish("print('after')") == Outcome::ok);
}

TEST_CASE("a start at the end of a script is not stopped by what stopped that one") {
  Recorder recorder;
  recorder.also = [&](const Event& event) {
    if (event.kind == Kind::ended && recorder.events(Kind::ended).size() == 1)
      recorder.run(
          "local lg = require 'lunagrad.core' print(lg.ones(64, 64):matmul(lg.ones(64, 64)):sum():item())");
  };
  recorder.run("print('one') while true do end");
  REQUIRE(recorder.printed("one"));
  recorder.session.stop();
  REQUIRE(recorder.saw(Kind::ended, 2));
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output() == "one\n262144.0\n");
}

TEST_CASE("a stop drops a reload that has not begun") {
  Recorder recorder;
  REQUIRE(recorder.finish("print('one')") == Outcome::ok);
  for (const bool now : {false, true}) {
    {
      const Held held(recorder);
      recorder.session.reload("print('two')");
      if (now)
        recorder.session.interrupt();
      else
        recorder.session.stop();
    }
    CHECK(recorder.session.wait() == Outcome::ok);
    CHECK(recorder.output() == "one\n");
    CHECK(recorder.events(Kind::ended).size() == 1);
  }
}

TEST_CASE("each command works in each state of a run") {
  // Brings a run into a state, sends a command, and checks the resulting state.
  enum class Command { resume, step, step_op, stop, interrupt };
  struct Case {
    bool paused;
    Command command;
    SessionState then;
  };
  const Case cases[] = {
      {false, Command::resume, SessionState::running}, {false, Command::step, SessionState::paused},
      {false, Command::step_op, SessionState::paused}, {false, Command::stop, SessionState::idle},
      {false, Command::interrupt, SessionState::idle}, {true, Command::resume, SessionState::running},
      {true, Command::step, SessionState::paused},     {true, Command::step_op, SessionState::paused},
      {true, Command::stop, SessionState::idle},       {true, Command::interrupt, SessionState::idle}};
  for (const Case& one : cases) {
    CAPTURE(one.paused);
    CAPTURE(int(one.command));
    Recorder recorder;
    stand_before_ops(recorder);
    if (!one.paused) {
      recorder.session.resume();
      REQUIRE(recorder.reaches(SessionState::running));
    }
    switch (one.command) {
      case Command::resume:
        recorder.session.resume();
        break;
      case Command::step:
        recorder.session.step();
        break;
      case Command::step_op:
        recorder.session.step_op();
        break;
      case Command::stop:
        recorder.session.stop();
        break;
      case Command::interrupt:
        recorder.session.interrupt();
        break;
    }
    if (one.then == SessionState::idle) {
      CHECK(recorder.session.wait() == Outcome::stopped);
    } else if (one.then == SessionState::paused) {
      CHECK(one.paused ? recorder.pauses_again() : recorder.reaches(SessionState::paused));
    }
    CHECK(recorder.reaches(one.then));
    CHECK(recorder.eval("return ops"));  // in every state
    CHECK(recorder.error() == "");
  }
}

TEST_CASE("commands from several threads at once leave the session consistent") {
  for (int round = 0; round < 3; ++round) {
    Recorder recorder;
    recorder.run("begin = true " + std::string(kCounting));
    REQUIRE(recorder.printed("go"));
    std::atomic<int> evaluated{0};
    const auto command = [&](int seed) {
      for (int i = 0; i < 40; ++i) switch ((i * 7 + seed * 3) % 7) {
          case 0:
            recorder.session.pause();
            break;
          case 1:
            recorder.session.step();
            break;
          case 2:
            recorder.session.step_op();
            break;
          case 3:
            recorder.session.eval("return ops", [&](bool) { ++evaluated; });
            break;
          case 4:
            recorder.session.set_param("nothing", "1");
            break;
          case 5:
            recorder.session.reload("begin = true " + std::string(kCounting));
            break;
          default:
            recorder.session.resume();
        }
    };
    std::thread first(command, 1), second(command, 2);
    first.join();
    second.join();
    CHECK(recorder.eval("return ops"));
    recorder.session.interrupt();
    CHECK(recorder.session.wait() == Outcome::stopped);
    CHECK(recorder.session.state() == SessionState::idle);
    CHECK(recorder.error() == "");
    CHECK(recorder.finish("print('after')") == Outcome::ok);
  }
}

TEST_CASE("an evaluation runs between two ops of a running loop") {
  Recorder recorder;
  recorder.run(R"(
    local lg = require "lunagrad.core"
    x, mixed, leave = lg.zeros(4), 0, false
    print("go")
    while not leave do
      local before = x:sum():item()
      x:add_(1)
      if x:sum():item() ~= before + 4 then mixed = mixed + 1 end
    end)");
  REQUIRE(recorder.printed("go"));
  for (int i = 0; i < 50; ++i) CHECK(recorder.eval("return x:sum():item() % 4"));
  CHECK(recorder.session.state() == SessionState::running);
  CHECK(recorder.eval("leave = true"));
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.eval("assert(mixed == 0)"));
}

TEST_CASE("a running loop goes on beside evaluations that never end") {
  std::function<void(bool)> again;  // outlives the session, which calls it
  Recorder recorder;
  recorder.run(R"(
    local lg = require "lunagrad.core"
    local x = lg.zeros(4)
    print("go")
    while not began do x:add_(1) end
    for _ = 1, 100 do x:add_(1) end
    print("through"))");
  REQUIRE(recorder.printed("go"));
  again = [&](bool) { recorder.session.eval("began = true", again); };
  again(true);
  CHECK(recorder.printed("through"));
  CHECK(recorder.session.wait() == Outcome::ok);
}

TEST_CASE("an evaluation inside a backward pass is read-only: no changes, gradients or lg.run") {
  Recorder recorder;
  recorder.run(R"(
    local lg = require "lunagrad.core"
    x = lg.ones(64, 64):requires_grad_()
    other = lg.zeros(4)
    leaf = lg.ones(2):requires_grad_()
    local y = x
    for _ = 1, 40 do y = y:matmul(x) * 0.01 end
    local inside = lg.custom_op{name = "wait", forward = function(_, a) return a * 1 end,
      backward = function(_, g) backward_began = true return g end}
    y = inside(y):sum()
    print("go")
    while not leave do backward_began = false y:backward(nil, {retain_graph = true}) backward_began = false end)");
  REQUIRE(recorder.printed("go"));
  // Refused between two nodes of the pass, where nearly all evaluations happen; others are not tested here.
  const auto refused = [&](const std::string& code, const std::string& part) {
    for (int i = 0; i < 200; ++i) {
      const size_t errors = recorder.events(Kind::error).size();
      if (recorder.eval("assert(backward_began, 'outside'); " + code)) continue;
      CHECK(recorder.events(Kind::error).size() == errors + 1);
      if (recorder.error().find(part) != std::string::npos) return true;
    }
    return false;
  };
  CHECK(refused("other:add_(1)", "add_: a backward pass is going on"));
  CHECK(refused("other[1] = 3", "a backward pass is going on"));
  CHECK(refused("x.grad = nil", "grad: a backward pass is going on"));
  CHECK(refused("(leaf * 2):sum():backward()", "backward: a backward pass is going on"));
  CHECK(refused("require('lunagrad.core').run.log{a = 1}", "run: a backward pass is going on"));
  CHECK(recorder.eval("return (x * 2):sum():item(), x.requires_grad"));
  CHECK(recorder.eval("leave = true"));
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.eval("other:add_(1)"));
}

TEST_CASE("an edited parameter that is not read in the next two steps is reported") {
  Recorder recorder;
  const std::string script = R"(
    local run = require("lunagrad.core").run
    local once = run.param("once", 0.5)
    local live = run.live("live", 0.5)
    for step in run.steps(6) do
      local each = run.param("each", 1)
      local _ = live()
    end
    print(once, live(), run.param("each", 1)))";
  recorder.also = [&](const Event& event) {
    if (event.kind != Kind::step || event.step != 1) return;
    CHECK(recorder.session.set_param("once", "0.25"));
    CHECK(recorder.session.set_param("live", "0.25"));
    CHECK(recorder.session.set_param("each", "2"));
  };
  CHECK(recorder.finish(script) == Outcome::ok);
  CHECK(recorder.texts(Kind::warning) == "'once' was read once, at test:3; use lg.run.live\n");
  CHECK(recorder.output() == "0.5\t0.25\t2\n");
  const std::vector<Event> warnings = recorder.events(Kind::warning);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].step == 4);
}

TEST_SUITE_END();
