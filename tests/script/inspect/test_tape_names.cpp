// What a viewer's tape calls its models, parameters and calls: two networks of one class, frozen layers,
// calls with the tape off, gradients of gradients.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "script/view/tape_json.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

constexpr const char* kGan = R"(
local lg = require "lunagrad"
local nn = lg.nn
local G = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))
local D = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
local optimizer = lg.optim.SGD(G:parameters(), {lr = 0.1})
for step in lg.run.steps(steps or 1000000) do
  optimizer:zero_grad()
  D(G(lg.randn(5, 2))):mean():backward()
  optimizer:step()
  print("step " .. step)
end
)";

constexpr const char* kNamedNet = R"(
local lg = require "lunagrad"
local nn = lg.nn
local Net = nn.class "Net"
function Net:init()
  self.fc1 = nn.Linear(4, 6)
  self.fc2 = nn.Linear(6, 2)
end
function Net:forward(x) return self.fc2(self.fc1(x):relu()) end
local net, teacher = Net(), Net()
)";

std::shared_ptr<const TapeSnapshot> tape_of(const std::string& code) {
  Recorder recorder;
  recorder.session.watch_tape(true);
  REQUIRE(recorder.finish(code) == Outcome::ok);
  auto tape = recorder.session.tape();
  REQUIRE(tape);
  return tape;
}

const NodeInfo* find(const TapeSnapshot& tape, const std::string& op, const std::string& module) {
  for (const NodeInfo& node : tape.nodes)
    if (node.op == op && node.module == module) return &node;
  return nullptr;
}

const NodeInfo* find_leaf(const TapeSnapshot& tape, const std::string& name) {
  for (const NodeInfo& node : tape.nodes)
    if (node.op == "leaf" && node.outputs[0].name == name) return &node;
  return nullptr;
}

bool descends(const TapeSnapshot& tape) {
  return std::is_sorted(tape.nodes.begin(), tape.nodes.end(),
                        [](const NodeInfo& a, const NodeInfo& b) { return a.id > b.id; });
}

}  // namespace

TEST_CASE("two networks of one class have the names of their variables, and changes take these names") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.run(kGan);
  REQUIRE(recorder.pauses_after("step 2\n"));
  const auto tape = recorder.session.tape();
  REQUIRE(tape);
  std::set<std::string> modules, leaves;
  for (const NodeInfo& node : tape->nodes) {
    if (node.op == "leaf")
      leaves.insert(node.outputs[0].name);
    else
      modules.insert(node.module);
  }
  CHECK(modules == std::set<std::string>{"", "D.0", "D.1", "D.2", "G.0", "G.1", "G.2"});
  CHECK(leaves == std::set<std::string>{"D.0.bias", "D.0.weight", "D.2.bias", "D.2.weight", "G.0.bias",
                                        "G.0.weight", "G.2.bias", "G.2.weight"});
  for (const std::string& name : modules)
    if (!name.empty() && !name.ends_with("1"))
      CHECK(recorder.eval("require('lunagrad').surgery.freeze('" + name + "')"));
  for (const std::string& name : leaves)
    CHECK(recorder.eval("require('lunagrad').surgery.unfreeze('" + name + "')"));
}

TEST_CASE("a frozen layer stays on the tape, with its parameters and what follows from it") {
  const auto tape = tape_of(std::string(kNamedNet) + R"(
net.fc1:requires_grad_(false)
local optimizer = lg.optim.SGD({net.fc2.weight, net.fc2.bias}, {lr = 0.1})
for step in lg.run.steps(3) do
  optimizer:zero_grad()
  net(lg.randn(3, 4)):square():mean():backward()
  optimizer:step()
end
)");
  CHECK(descends(*tape));
  const NodeInfo* const frozen = find(*tape, "linear", "net.fc1");
  const NodeInfo* const relu = find(*tape, "relu", "net");
  const NodeInfo* const trained = find(*tape, "linear", "net.fc2");
  const NodeInfo* const weight = find_leaf(*tape, "net.fc1.weight");
  REQUIRE(frozen);
  REQUIRE(relu);
  REQUIRE(trained);
  REQUIRE(weight);
  CHECK(frozen->no_gradient);
  CHECK(relu->no_gradient);
  CHECK(weight->no_gradient);
  CHECK_FALSE(trained->no_gradient);
  CHECK(trained->inputs[0].node == relu->id);
  CHECK(relu->inputs[0].node == frozen->id);
  CHECK(std::any_of(frozen->inputs.begin(), frozen->inputs.end(),
                    [&](const OperandInfo& input) { return input.node == weight->id; }));
  CHECK(frozen->outputs[0].shape == std::vector<int64_t>{3, 6});
  CHECK(frozen->place.line == 9);
  // Recorded tapes and comparisons hold what a gradient goes through.
  const std::string json = tape_json(*tape);
  CHECK(json.find("net.fc2") != json.npos);
  CHECK(json.find("net.fc1") == json.npos);
}

TEST_CASE("a frozen parameter of a layer that is on the tape stays, too") {
  const auto tape = tape_of(std::string(kNamedNet) + R"(
net.fc2.weight:requires_grad_(false)
for step in lg.run.steps(3) do net(lg.randn(3, 4)):square():mean():backward() end
)");
  const NodeInfo* const weight = find_leaf(*tape, "net.fc2.weight");
  const NodeInfo* const reader = find(*tape, "linear", "net.fc2");
  REQUIRE(weight);
  REQUIRE(reader);
  CHECK(weight->no_gradient);
  CHECK_FALSE(reader->no_gradient);
  CHECK(std::any_of(reader->inputs.begin(), reader->inputs.end(), [&](const OperandInfo& input) {
    return input.node == weight->id && input.name == "net.fc2.weight";
  }));
}

TEST_CASE("a model that runs with the tape off stays on the tape; other calls without gradients do not") {
  const auto tape = tape_of(std::string(kNamedNet) + R"(
for step in lg.run.steps(3) do
  local x = lg.randn(3, 4) * 2 + 1
  local wanted = lg.no_grad(function() return teacher(x) end)
  lg.nn.functional.mse_loss(net(x), wanted):backward()
end
)");
  CHECK(descends(*tape));
  REQUIRE(find(*tape, "linear", "teacher.fc2"));
  CHECK(find(*tape, "linear", "teacher.fc2")->no_gradient);
  REQUIRE(find(*tape, "relu", "teacher"));
  CHECK(find(*tape, "relu", "teacher")->no_gradient);
  REQUIRE(find_leaf(*tape, "teacher.fc1.weight"));
  CHECK_FALSE(find(*tape, "relu", "net")->no_gradient);
  for (const NodeInfo& node : tape->nodes) {
    CHECK(node.op != "mul");
    if (node.module.empty() && node.op != "leaf") CHECK_FALSE(node.no_gradient);
  }
}

TEST_CASE("a captured step has the values of a frozen layer, which has no gradient") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.run(std::string(kNamedNet) + R"(
net.fc1:requires_grad_(false)
for step in lg.run.steps() do
  net(lg.ones(3, 4)):square():mean():backward()
  print("step " .. step)
end
)");
  REQUIRE(recorder.pauses_after("step 2\n"));
  for (int i = 0; i < 2; ++i) {
    recorder.session.step();
    REQUIRE(recorder.pauses_again());
  }
  const auto tape = recorder.session.tape();
  REQUIRE(tape);
  const NodeInfo* const frozen = find(*tape, "linear", "net.fc1");
  const NodeInfo* const weight = find_leaf(*tape, "net.fc1.weight");
  REQUIRE(frozen);
  REQUIRE(weight);
  const auto look = [&](const TensorPlace& place) {
    return ask<SliceView>([&](auto done) { recorder.session.inspect(place, {}, {}, done); });
  };
  CHECK(look({tape->step, frozen->id}).cells.size() == 18);
  CHECK(look({tape->step, weight->id}).cells.size() == 24);
  CHECK(look({tape->step, frozen->id, false, 0, Which::gradient}).reason == "no gradient goes through it");
}

TEST_CASE("a shared module has the path of each of its calls, with its other names beside it") {
  const auto tape = tape_of(R"(
local lg = require "lunagrad"
local nn = lg.nn
local Twice = nn.class "Twice"
function Twice:init()
  self.first = nn.Linear(2, 2)
  self.second = self.first
end
function Twice:forward(x)
  local one = self.first(x):tanh()
  local two = self.second(one)
  return two
end
local twice = Twice()
for step in lg.run.steps(3) do twice(lg.randn(3, 2)):square():mean():backward() end
)");
  const NodeInfo* const first = find(*tape, "linear", "twice.first");
  const NodeInfo* const second = find(*tape, "linear", "twice.second");
  const NodeInfo* const weight = find_leaf(*tape, "twice.first.weight");
  REQUIRE(first);
  REQUIRE(second);
  REQUIRE(weight);
  using Names = std::vector<std::string>;
  CHECK(first->also == Names{"twice.second"});
  CHECK(second->also == Names{"twice.first"});
  CHECK(weight->also == Names{"twice.second.weight"});
  CHECK(find(*tape, "tanh", "twice")->also.empty());
}

TEST_CASE("calls that compute gradients of gradients know the op that they differentiate") {
  const auto tape = tape_of(R"(
local lg = require "lunagrad"
local w = lg.tensor{1.0, 2.0, 3.0}:float():requires_grad_()
for step in lg.run.steps(3) do
  local y = w:sin():sum()
  local g = lg.grad(y, {w}, {create_graph = true})[1]
  local penalty = g:square():sum()
  penalty:backward()
end
)");
  const NodeInfo* of_sin = nullptr;
  for (const NodeInfo& node : tape->nodes)
    if (node.gradient_op == "sin") of_sin = &node;
  REQUIRE(of_sin);
  CHECK(of_sin->place.line == 5);
  const NodeInfo* const square = find(*tape, "square", "");
  REQUIRE(square);
  CHECK(square->gradient_op == "");
  CHECK(square->place.line == 7);
}
