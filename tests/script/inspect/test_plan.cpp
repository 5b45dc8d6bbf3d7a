// A viewer's view of steps with deferred calls: the plan, its groups on the tapes of other steps, and the
// same tape as for eager calls.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "script/view/tape_json.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

constexpr const char* kScript = R"(
local w = lg.randn(200, 200):requires_grad_()
local x = lg.randn(200, 200)
for step in lg.run.steps(6) do
  local y = ((x:matmul(w) - 0.5) * 2 + 1):tanh() * 3
  collectgarbage()
  y:sum():backward()
  lg.no_grad(function() w:sub_(w.grad * 1e-3) end)
  w.grad = nil
  if step == 6 then print(y[1][1]:item(), "done") end
end
)";
const char* const kAlways = "local lg = require 'lunagrad' lg.set_deferred(true)";
const char* const kNever = "local lg = require 'lunagrad' lg.set_deferred(false)";

struct Ran {
  std::shared_ptr<const TapeSnapshot> tape;  // of the last step
  std::shared_ptr<const StepPlan> plan;
  std::string output;
};

Ran run(const std::string& prefix, const std::function<void(Session&)>& prepare = {}) {
  Recorder recorder;
  recorder.session.watch_tape(true);
  if (prepare) prepare(recorder.session);
  RunOptions options;
  options.seed = 1;
  CHECK(recorder.finish(prefix + kScript, options) == Outcome::ok);
  return {recorder.session.tape(), recorder.session.plan(), recorder.output()};
}

// The tape as a person or a program reads it, without ids and times.
std::string comparable(const TapeSnapshot& tape) {
  auto json = nlohmann::json::parse(tape_json(tape));
  for (auto& node : json["nodes"]) {
    for (const char* field : {"id", "forward_ns", "backward_ns"}) node.erase(field);
    for (const char* side : {"inputs", "outputs"})
      for (auto& operand : node[side]) operand.erase("tensor"), operand.erase("node");
  }
  return json.dump();
}

}  // namespace

TEST_CASE("the tape of a step that was deferred has the groups of its plan") {
  const Ran ran = run(kAlways);
  REQUIRE(ran.plan);
  REQUIRE(ran.tape);
  CHECK(ran.tape->step == 6);
  CHECK(ran.plan->device == "cpu");
  CHECK(ran.plan->goes_on);
  CHECK(ran.plan->step > 1);
  const TapePlan& on_tape = ran.tape->plan;
  REQUIRE(on_tape.plan == ran.plan);
  REQUIRE(on_tape.nodes.size() == ran.tape->nodes.size());
  REQUIRE(on_tape.groups.size() == 1);
  const TapePlan::Group& group = on_tape.groups[0];
  std::string members, nodes;
  for (const PlannedCall& call : on_tape.plan->groups[group.row].members) {
    members += call.op + (call.stored ? ", " : " not stored, ");
    CHECK(call.place.line == 5);
    CHECK_FALSE(call.backward);
  }
  CHECK(members == "sub not stored, mul not stored, add not stored, tanh, mul, ");
  CHECK(group.bytes == 3 * 200 * 200 * 4);
  CHECK(group.ns > 0);
  for (const uint32_t i : group.nodes) nodes += ran.tape->nodes[i].op + " ";
  CHECK(nodes == "mul tanh add mul sub ");
  for (size_t i = 0; i < on_tape.nodes.size(); ++i) {
    const TapePlan::OfNode& of = on_tape.nodes[i];
    const NodeInfo& node = ran.tape->nodes[i];
    CAPTURE(node.op);
    if (node.op == "matmul") {
      REQUIRE(of.alone >= 0);
      CHECK(on_tape.plan->alone[size_t(of.alone)].why == "not an elementwise op");
    }
    if (node.op == "leaf") CHECK(of.alone == -1);
    if (of.group >= 0) CHECK(node.forward_ns == 0);  // the group has a time, its members have none
    if (node.op == "add") CHECK_FALSE(of.stored);
  }
}

TEST_CASE("a step that a viewer looks at is computed call by call and has the groups of the one before") {
  const Ran ran = run(kAlways, [](Session& session) { session.watch_statistics(true, 5); });
  REQUIRE(ran.plan);
  REQUIRE(ran.tape);
  CHECK(ran.tape->step == 6);  // the steps 1 and 6 are measured
  CHECK(ran.tape->has_statistics);
  CHECK(ran.plan->step < 6);
  REQUIRE(ran.tape->plan.groups.size() == 1);
  for (const uint32_t i : ran.tape->plan.groups[0].nodes) CHECK(ran.tape->nodes[i].forward_ns > 0);
}

TEST_CASE("a tape as JSON and the numbers of a run are the same whether calls are deferred or not") {
  const Ran off = run(kAlways), not_off = run(kNever);
  CHECK_FALSE(not_off.plan);
  REQUIRE(off.tape);
  REQUIRE(not_off.tape);
  CHECK(not_off.tape->plan.plan == nullptr);
  CHECK(comparable(*off.tape) == comparable(*not_off.tape));
  CHECK(off.output == not_off.output);
}

TEST_CASE("a pause inside of a step computes what somebody looks at, and the step goes on as it was") {
  const auto steps = [](const char* prefix, bool pause) {
    Recorder recorder;
    recorder.session.watch_tape(true);
    RunOptions options;
    options.interactive = true;
    const std::string code = std::string(prefix) + R"(
local x = lg.ones(4)
for step in lg.run.steps(3) do
  y = (x * step + 1) * 2
  )" + (pause ? "lg.run.breakpoint()" : "") +
                             R"(
  z = y - 3
  print(z:sum():item())
end
)";
    recorder.run(code, options);
    for (size_t i = 1; pause && i <= 3; ++i) {
      REQUIRE(recorder.saw(Event::Kind::state, 2 * i));  // running, paused
      CHECK(recorder.eval("w = y * 10; assert(w[1]:item() == y[1]:item() * 10 and y[1]:item() > 3)"));
      recorder.session.resume();
    }
    recorder.session.wait();
    CHECK(recorder.error() == "");
    return recorder.output();
  };
  CHECK(steps(kAlways, true) == steps(kNever, false));
}
