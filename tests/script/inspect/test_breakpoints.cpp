// Breakpoints of a session: each condition, forward and backward; the event of a pause; changes during a run.
#include <doctest/doctest.h>

#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using Kind = Event::Kind;
using Condition = Breakpoint::Condition;
using Pass = Breakpoint::Pass;

namespace {

// The chunk is called "test": line 6 makes the product, line 7 its relu, line 8 the sum, line 9 calls
// backward.
const char* const kBreakpointScript = R"(local lg = require "lunagrad"
local w = lg.ones(3, 4, {requires_grad = true})
local x = lg.ones(2, 3)
for step in lg.run.steps(4) do
  done = step
  local h = lg.matmul(x, w)
  local y = h:relu()
  local loss = y:sum() * step
  loss:backward()
  w.grad = nil
end)";

Breakpoint on(Condition condition, std::string text = "", Pass pass = Pass::both) {
  Breakpoint b;
  b.condition = condition;
  b.text = std::move(text);
  b.pass = pass;
  return b;
}

std::string shown(Recorder& recorder, const std::string& expression) {
  const size_t before = recorder.output().size();
  REQUIRE(recorder.eval("print(" + expression + ")"));
  return recorder.output().substr(before);
}

// The next pause and its reason.
BreakHit next_hit(Recorder& recorder, size_t number) {
  REQUIRE(recorder.saw(Kind::break_hit, number));
  REQUIRE(recorder.reaches(SessionState::paused));
  const auto hits = recorder.session.break_hits();
  REQUIRE(hits.size() == number);
  return hits.back();
}

}  // namespace

TEST_CASE("an op, a shape and a line pause after the op, with `it` bound to the result") {
  struct Case {
    Breakpoint breakpoint;
    const char* op;
    int line;
    int64_t next = 2;  // the step of its second hit
  };
  Breakpoint line = on(Condition::line, "", Pass::forward);
  line.place = {"test", 7};
  const Case cases[] = {
      {on(Condition::op, "relu", Pass::forward), "relu", 7},
      {on(Condition::shape, "[2, 4]", Pass::forward), "matmul", 6, 1},
      {line, "relu", 7},
      {on(Condition::predicate, "op.name == 'matmul' and x:sum():item() > 23", Pass::forward), "matmul", 6}};
  for (const Case& one : cases) {
    CAPTURE(describe(one.breakpoint));
    Recorder recorder;
    recorder.session.watch_tape(true);
    const uint64_t id = recorder.session.add_breakpoint(one.breakpoint);
    REQUIRE(id);
    recorder.run(kBreakpointScript);
    const BreakHit hit = next_hit(recorder, 1);
    CHECK(hit.breakpoint == id);
    CHECK(hit.op == one.op);
    CHECK(hit.place.line == one.line);
    CHECK(hit.step == 1);
    CHECK_FALSE(hit.backward);
    CHECK(shown(recorder, "done, it:sum():item(), #it:size()") == "1\t24.0\t2\n");
    // The shown tape ends with the op.
    const auto tape = recorder.session.tape();
    REQUIRE(tape);
    REQUIRE(!tape->nodes.empty());
    CHECK(tape->nodes[0].id == hit.node);
    CHECK(tape->nodes[0].op == one.op);
    const Event event = recorder.events(Kind::break_hit)[0];
    CHECK(event.node == hit.node);
    CHECK(event.breakpoint == id);
    CHECK(event.place.line == one.line);
    recorder.session.resume();
    CHECK(next_hit(recorder, 2).step == one.next);
    CHECK(recorder.session.breakpoints()[0].hits == 2);
    CHECK(recorder.session.remove_breakpoint(id));
    recorder.session.resume();
    CHECK(recorder.session.wait() == Outcome::ok);
  }
}

TEST_CASE("backward: the gradient that reaches a node, on a tape of the pass") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.session.add_breakpoint(on(Condition::op, "relu", Pass::backward));
  recorder.run(kBreakpointScript);
  const BreakHit hit = next_hit(recorder, 1);
  CHECK(hit.backward);
  CHECK(hit.place.line == 7);
  CHECK(shown(recorder, "it:sum():item()") == "8.0\n");
  bool there = false;
  for (const NodeInfo& node : recorder.session.tape()->nodes)
    there |= node.id == hit.node && node.op == "relu";
  CHECK(there);
  recorder.session.interrupt();
  CHECK(recorder.session.wait() == Outcome::stopped);
}

TEST_CASE("a norm counts once per step, a step at its start") {
  Recorder recorder;
  Breakpoint norm = on(Condition::norm, "", Pass::backward);
  norm.limit =
      15;  // each of the twelve weights gets a gradient of 2 step: a norm of 13.9 in step 2, 20.8 in step 3
  recorder.session.add_breakpoint(norm);
  Breakpoint step = on(Condition::step);
  step.step = 2;
  recorder.session.add_breakpoint(step);
  recorder.run(kBreakpointScript);
  const BreakHit second = next_hit(recorder, 1);
  CHECK(second.step == 2);
  CHECK(second.summary == "step 2 begins");
  recorder.session.resume();
  const BreakHit large = next_hit(recorder, 2);
  CHECK(large.backward);
  CHECK(large.step == 3);
  recorder.session.resume();
  CHECK(next_hit(recorder, 3).step == 4);
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
}

TEST_CASE("a NaN pauses at the op that makes it, with an explanation, once per step; the run may continue") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.session.add_breakpoint(on(Condition::not_finite));
  recorder.run(R"(local lg = require "lunagrad"
local w = lg.tensor{1.0, -1.0}
w:requires_grad_(true)
for step in lg.run.steps(2) do
  local a = w * 2
  local b = a:log()
  local c = b + 1
  c:sum():backward()
end)");
  const BreakHit hit = next_hit(recorder, 1);
  CHECK(hit.op == "log");
  CHECK(hit.place.line == 6);
  CHECK(hit.explanation.find("1 NaN among 2 elements, the first at [2]") != std::string::npos);
  CHECK(hit.explanation.find("from -2 to 2") != std::string::npos);
  CHECK(hit.explanation.find("the logarithm of a negative number is NaN") != std::string::npos);
  CHECK(recorder.session.tape()->nodes[0].op == "log");
  CHECK(shown(recorder, "it:isnan():sum():item()") == "1\n");
  recorder.session.resume();
  CHECK(next_hit(recorder, 2).step == 2);
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
}

TEST_CASE("a NaN in a gradient is explained, and a requested error follows the pause") {
  const char* const script = R"(local lg = require "lunagrad"
local w = lg.zeros(2, {requires_grad = true})
local y = (w:sqrt() * 0):sum()
y:backward())";
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.session.add_breakpoint(on(Condition::not_finite, "", Pass::backward));
  RunOptions options;
  options.guard = GuardLevel::op;
  recorder.run(script, options);
  const BreakHit hit = next_hit(recorder, 1);
  CHECK(hit.backward);
  CHECK(hit.op == "sqrt");
  CHECK(hit.place.line == 3);
  CHECK(hit.explanation.find("backward of sqrt") != std::string::npos);
  CHECK(hit.node != 0);
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::numeric);
}

TEST_CASE("breakpoints set during a run count from its next op on, and stay after it") {
  Recorder recorder;
  recorder.run(R"(local lg = require "lunagrad"
    local x = lg.ones(3)
    print("go")
    while true do x = x:tanh() end)");
  REQUIRE(recorder.printed("go"));
  const uint64_t id = recorder.session.add_breakpoint(on(Condition::op, "tanh"));
  const BreakHit hit = next_hit(recorder, 1);
  CHECK(hit.node == 0);  // nothing requires a gradient here
  Breakpoint off = recorder.session.breakpoints()[0];
  off.enabled = false;
  CHECK(recorder.session.change_breakpoint(off));
  recorder.session.resume();
  REQUIRE(recorder.reaches(SessionState::running));
  off.enabled = true;
  CHECK(recorder.session.change_breakpoint(off));
  next_hit(recorder, 2);
  recorder.session.interrupt();
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(recorder.session.breakpoints()[0].hits == 2);
  recorder.run("local lg = require 'lunagrad' lg.ones(2):tanh()");
  REQUIRE(recorder.saw(Kind::break_hit, 3));
  CHECK(recorder.session.breakpoints()[0].id == id);
  CHECK(recorder.session.breakpoints()[0].hits == 1);
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
}

TEST_CASE("evaluations and the ops of gradients meet no breakpoint") {
  Recorder recorder;
  recorder.session.add_breakpoint(on(Condition::op, "mul", Pass::forward));
  Breakpoint step = on(Condition::step);
  step.step = 1;
  recorder.session.add_breakpoint(step);
  recorder.run(R"(local lg = require "lunagrad"
    w = lg.ones(3, {requires_grad = true})
    for step in lg.run.steps(1) do w:square():sum():backward() end)");
  next_hit(recorder, 1);
  CHECK(recorder.eval("w:detach() * 2"));
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.session.break_hits().size() == 1);
}

TEST_CASE("a predicate that fails is disabled with a warning; an invalid breakpoint is refused") {
  Recorder recorder;
  const uint64_t id = recorder.session.add_breakpoint(on(Condition::predicate, "op.nothing.at > 1"));
  REQUIRE(id);
  REQUIRE(recorder.finish(kBreakpointScript) == Outcome::ok);
  CHECK(recorder.texts(Kind::warning).find("switched off") != std::string::npos);
  CHECK(recorder.session.breakpoints()[0].problem.find("nil value") != std::string::npos);
  CHECK(recorder.session.break_hits().empty());

  CHECK(recorder.session.add_breakpoint(on(Condition::predicate, "1 +")) == 0);
  CHECK(recorder.session.add_breakpoint(on(Condition::shape, "[2, x]")) == 0);
  CHECK(recorder.session.add_breakpoint(on(Condition::step)) == 0);
  CHECK(recorder.session.add_breakpoint(on(Condition::op)) == 0);
  CHECK(problem_of(on(Condition::shape, "2 3")).find("is no shape") != std::string::npos);
  CHECK_FALSE(recorder.session.remove_breakpoint(77));
  CHECK(parse_shape_pattern("[64, *]") == std::vector<int64_t>{64, -1});
  CHECK(parse_shape_pattern("[]")->empty());
  CHECK_FALSE(parse_shape_pattern("[2"));
  CHECK_FALSE(parse_shape_pattern(",2"));
}

TEST_CASE("a parameter is refused with the reason, and has choices") {
  Recorder recorder;
  recorder.run(R"(local lg = require "lunagrad"
    local lr = lg.run.live("lr", 0.1, {min = 0.01, max = 1})
    local kind = lg.run.param("kind", "sgd", {choices = {"sgd", "adam"}})
    print("go")
    for step in lg.run.steps() do local _ = lr() end)");
  REQUIRE(recorder.printed("go"));
  std::string why;
  CHECK_FALSE(recorder.session.set_param("lr", "2", &why));
  CHECK(why == "2 is outside [0.01, 1]");
  CHECK_FALSE(recorder.session.set_param("lr", "much", &why));
  CHECK(why == "'much' is not a number");
  CHECK_FALSE(recorder.session.set_param("kind", "rmsprop", &why));
  CHECK(why == "rmsprop is outside {sgd, adam}");
  CHECK_FALSE(recorder.session.set_param("none", "1", &why));
  CHECK(recorder.session.set_param("kind", "adam"));
  const auto params = recorder.session.params();
  REQUIRE(params.size() == 2);
  CHECK(params[1].choices == std::vector<std::string>{"sgd", "adam"});
  CHECK(params[0].fallback == "0.1");
  recorder.session.interrupt();
  recorder.session.wait();
}
