// Why?: for each cause of a zero or missing gradient a tape and measured steps that have it, and the trail
// that names it; what is not known; the nodes with alarms.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/ui/measured_tape.h"
#include "ui/inspect/node_alarms.h"
#include "ui/inspect/why.h"

using namespace lunagrad;
using namespace lunagrad::test;

TEST_CASE("a gradient of 0 leads over the dead relu to the bias, and to the update that made it so") {
  const DeadNetwork net;
  WhyFacts facts;
  facts.tape = &net.tape;
  const Summary now = between(-22, -19);
  facts.steps = {sampled(1, net.parameters(now, now.norm, between(0, 2))),
                 sampled(20, net.parameters(now, 0.0, all_zeros())),
                 sampled(40, net.parameters(now, 0.0, all_zeros()))};
  const WhyTrail trail = why(facts, {.parameter = "hidden.weight"});
  CHECK(trail.subject == "hidden.weight");
  CHECK(trail.step == 40);
  expect_in_order(trail, {"gradient of hidden.weight is 0", "relu at train.lua:12 gives only zeros",
                          "from -25 to -18", "hidden.bias is about -20", "since step 1",
                          "update of step 1 at model.lua:14", "times its gradient"});
  CHECK(trail.links.front().node == net.weight);
  CHECK(link_with(trail, "gives only zeros").node == net.relu);
  CHECK(link_with(trail, "is about -20").node == net.bias);
  const WhyLink& update = link_with(trail, "update of step 1");
  CHECK(update.place == SourcePlace{"model.lua", 14});
  CHECK(update.step == 1);
}

TEST_CASE("of a call that failed the trail leads to what it read, not to gradients") {
  DeadNetwork net;
  net.tape.failed = true;
  net.tape.pass = -1;
  net.tape.at = net.tape.nodes.front().id;
  WhyFacts facts;
  facts.tape = &net.tape;
  const WhyTrail trail = why(facts, {.node = net.tape.at});
  REQUIRE(trail.links.size() >= 2);
  CHECK(trail.links[0].sentence.find("failed and has no result") != std::string::npos);
  CHECK(trail.links[0].node == net.tape.at);
  CHECK(trail.links[1].sentence.find(" comes from ") != std::string::npos);
  CHECK(trail.links[1].node == net.tape.nodes.front().inputs.front().node);
  CHECK(all_of(trail).find("backward pass") == std::string::npos);
}

TEST_CASE("since when: between two measured steps, with the user's changes, or from the first values on") {
  const DeadNetwork net;
  WhyFacts facts;
  facts.tape = &net.tape;
  const Summary now = between(-22, -19);
  facts.steps = {sampled(1, net.parameters(kHealthy, 0.01, kHealthy)),
                 sampled(20, net.parameters(kHealthy, 0.01, kHealthy)),
                 sampled(30, net.parameters(now, now.norm, between(0, 2))),
                 sampled(40, net.parameters(now, 0, all_zeros()))};
  facts.changes = {{5, "lr: 0.1 to 0.2", {}}, {25, "lr: 0.2 to 50", {}}};
  const WhyTrail between_steps = why(facts, {.parameter = "hidden.weight"});
  expect_in_order(between_steps, {"after step 20 and by step 30", "lr: 0.2 to 50", "update of step 30"});
  CHECK(all_of(between_steps).find("lr: 0.1 to 0.2") == std::string::npos);
  CHECK(link_with(between_steps, "lr: 0.2 to 50").step == 25);

  facts.changes.clear();
  facts.steps = {sampled(1, net.parameters(now, 0.001, all_zeros())),
                 sampled(40, net.parameters(now, 0, all_zeros()))};
  const WhyTrail initial = why(facts, {.parameter = "hidden.weight"});
  expect_in_order(initial, {"hidden.bias is about -20", "initialised so at model.lua:5"});
  CHECK(link_with(initial, "initialised").place == SourcePlace{"model.lua", 5});

  facts.steps.clear();
  const WhyTrail unknown = why(facts, {.node = net.weight});
  expect_in_order(unknown, {"gradient of hidden.weight is 0", "gives only zeros", "not recorded"});
}

TEST_CASE("an alarm of a dead relu begins at the relu, in tapes of later steps too") {
  const DeadNetwork net;
  WhyFacts facts;
  facts.tape = &net.tape;
  const Summary now = between(-22, -19);
  facts.steps = {sampled(1, net.parameters(now, now.norm, between(0, 2)))};
  Alarm alarm = alarm_about(AlarmKind::dead, "relu at train.lua:12");
  alarm.op = "relu";
  alarm.place = {"train.lua", 12};
  alarm.node = 987654;  // of another step
  const WhyTrail trail = why(facts, {.alarm = alarm});
  CHECK(trail.links.front().node == net.relu);
  expect_in_order(trail, {"gives only zeros", "hidden.bias is about -20", "update of step 1"});
}

TEST_CASE("what stops a gradient, one op at a time") {
  struct Case {
    const char* name;
    const char* op;
    // Of the op that stops the gradient of x: its other operands, its value and its attributes.
    std::vector<std::string> names;
    Summary value, other;
    bool other_known;
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<int64_t> shape;
    const char* words;
  };
  const std::vector<Case> cases = {
      {"sigmoid", "sigmoid", {"input"}, between(0, 1), {}, false, {}, {8, 8}, "is saturated"},
      {"tanh", "tanh", {"input"}, between(-1, 1), {}, false, {}, {8, 8}, "is saturated"},
      {"softmax", "softmax", {"input"}, between(0, 1), {}, false, {{"dim", "2"}}, {8, 8}, "is saturated"},
      {"softmax of one",
       "softmax",
       {"input"},
       between(1, 1),
       {},
       false,
       {{"dim", "2"}},
       {64, 1},
       "dim of size 1"},
      {"softmax of the last dim",
       "softmax",
       {"input"},
       between(1, 1),
       {},
       false,
       {{"dim", "-1"}},
       {64, 1},
       "dim of size 1"},
      {"clamp", "clamp", {"input"}, between(1, 1), {}, false, {}, {8, 8}, "cuts every element off"},
      {"floor", "floor", {"input"}, kHealthy, {}, false, {}, {8, 8}, "derivative of floor is 0 everywhere"},
      {"sign", "sign", {"input"}, kHealthy, {}, false, {}, {8, 8}, "derivative of sign is 0 everywhere"},
      {"mask that is not recorded",
       "mul",
       {"input", "other"},
       all_zeros(),
       {},
       false,
       {},
       {8, 8},
       "needs no gradient, so its values are not recorded"},
      {"product with zeros",
       "mul",
       {"input", "other"},
       all_zeros(),
       all_zeros(),
       true,
       {},
       {8, 8},
       "which is 0"},
      {"product of matrices",
       "matmul",
       {"input", "other"},
       all_zeros(),
       all_zeros(),
       true,
       {},
       {8, 8},
       "which is 0"},
      {"where", "where", {"input"}, kHealthy, {}, false, {}, {8, 8}, "hides every element"},
      {"dropout", "dropout", {"input"}, all_zeros(), {}, false, {{"p", "1"}}, {8, 8}, "its p is 1"},
      {"amax", "amax", {"input"}, kHealthy, {}, false, {}, {8, 8}, "the elements that it chooses"},
      {"index_select", "index_select", {"input"}, kHealthy, {}, false, {}, {8, 8}, "reads other elements"},
      {"layer_norm", "layer_norm", {"input"}, all_zeros(), {}, false, {}, {8, 8}, "a single element"},
      {"an op that nobody explains",
       "neg",
       {"input"},
       kHealthy,
       {},
       false,
       {},
       {8, 8},
       "Why is not recorded"},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(one.name));
    MeasuredTape made;
    const uint64_t x = made.leaf("x", all_zeros());
    const uint64_t before = made.call("neg", {x}, {"input"}, between(30, 90), all_zeros(), {}, 7);
    std::vector<uint64_t> inputs{before};
    if (one.names.size() > 1)
      inputs.push_back(
          one.other_known ? made.call("neg", {made.leaf("y", kHealthy)}, {"input"}, one.other, kHealthy) : 0);
    const uint64_t stops =
        made.call(one.op, inputs, one.names, one.value, kHealthy, one.attributes, 8, one.shape);
    made.call("sum", {stops}, {"input"}, single(1), single(1), {}, 9, {});
    const WhyTrail trail = made.why_node(x);
    expect_in_order(trail, {"The gradient of x is 0", "neg at train.lua:7", one.words});
    CHECK(link_with(trail, one.words).node == stops);
  }
}

TEST_CASE("a loss that passes nothing on") {
  for (const auto& [value, classes, words] :
       {std::tuple{0.0, int64_t(10), "nothing left to learn"}, std::tuple{0.0, int64_t(1), "a single class"},
        std::tuple{2.5, int64_t(10), "passes on nothing"}}) {
    CAPTURE(std::string(words));
    MeasuredTape made;
    const uint64_t x = made.leaf("x", all_zeros());
    const uint64_t logits = made.call("neg", {x}, {"input"}, kHealthy, all_zeros(), {}, 7, {64, classes});
    const uint64_t loss =
        made.call("_cross_entropy", {logits, 0}, {"input", "target"}, single(value), single(1), {}, 8, {});
    const WhyTrail trail = made.why_node(x);
    expect_in_order(trail, {"The gradient of x is 0", words});
    CHECK(link_with(trail, words).node == loss);
  }
}

TEST_CASE("zeros of a layer are followed to the relu before it, and to weights that are 0") {
  MeasuredTape made;
  const uint64_t bias = made.leaf("a.bias", all_zeros());
  const uint64_t first =
      made.call("linear", {0, 0, bias}, {"input", "weight", "bias"}, between(-9, -8), all_zeros());
  const uint64_t relu = made.call("relu", {first}, {"input"}, all_zeros(), kHealthy, {}, 11);
  const uint64_t weight = made.leaf("b.weight", all_zeros());
  const uint64_t second =
      made.call("linear", {relu, weight}, {"input", "weight"}, all_zeros(), kHealthy, {}, 12);
  made.call("sum", {second}, {"input"}, single(0), single(1), {}, 13, {});
  // The second weight's gradient is a product with the output of the dead relu.
  const WhyTrail by_input = made.why_node(weight);
  expect_in_order(by_input, {"gradient of b.weight is 0", "multiplies by its operand 'input'",
                             "relu at train.lua:11 gives only zeros", "from -9 to -8"});
  // The gradient of the first layer is a product with weights of 0, if the relu is alive.
  MeasuredTape alive;
  const uint64_t x = alive.leaf("x", all_zeros());
  const uint64_t w = alive.leaf("w", kHealthy);
  const uint64_t product = alive.call("linear", {x, w}, {"input", "weight"}, all_zeros(), kHealthy);
  alive.call("sum", {product}, {"input"}, single(0), single(1), {}, 13, {});
  const TapeSnapshot tape = alive.snapshot();
  WhyFacts facts;
  facts.tape = &tape;
  facts.steps = {sampled(40, {measured("w", w, all_zeros(), kHealthy, 0.1)})};
  expect_in_order(why(facts, {.node = x}),
                  {"multiplies by its operand 'weight', w, which is 0", "w is 0 in each element"});
}

TEST_CASE("a bias whose gradient sums to 0 does not blame an input that is 0") {
  MeasuredTape made;
  const uint64_t bias = made.leaf("fc.bias", all_zeros());
  const uint64_t zeros = made.call("neg", {made.leaf("x", kHealthy)}, {"input"}, all_zeros(), kHealthy);
  const uint64_t linear =
      made.call("linear", {zeros, 0, bias}, {"input", "weight", "bias"}, kHealthy, kHealthy, {}, 8);
  made.call("sum", {linear}, {"input"}, single(1), single(1), {}, 9, {});
  const WhyTrail trail = made.why_node(bias);
  expect_in_order(trail, {"The gradient of fc.bias is 0", "linear at train.lua:8 gives its bias the sum"});
  CHECK(all_of(trail).find("multiplies by") == std::string::npos);
}

TEST_CASE("an internal op has the name that the script calls") {
  MeasuredTape made;
  const uint64_t x = made.leaf("x", all_zeros());
  const uint64_t attention = made.call("_attention", {x}, {"query"}, kHealthy, kHealthy, {}, 8);
  made.call("sum", {attention}, {"input"}, single(1), single(1), {}, 9, {});
  expect_in_order(made.why_node(x), {"scaled_dot_product_attention at train.lua:8"});
}

TEST_CASE("a fused activation is found, too") {
  MeasuredTape made;
  const uint64_t bias = made.leaf("fc.bias", all_zeros());
  const uint64_t linear = made.call("linear", {0, 0, bias}, {"input", "weight", "bias"}, all_zeros(),
                                    kHealthy, {{"activation", "\"relu\""}});
  made.call("sum", {linear}, {"input"}, single(0), single(1), {}, 13, {});
  const TapeSnapshot tape = made.snapshot();
  WhyFacts facts;
  facts.tape = &tape;
  const Summary low = between(-22, -19);
  facts.steps = {sampled(3, {measured("fc.bias", bias, low, all_zeros(), low.norm)})};
  expect_in_order(why(facts, {.parameter = "fc.bias"}),
                  {"linear with its relu", "gives only zeros", "fc.bias is about -20", "update of step 3"});
}

TEST_CASE("no gradient at all: not on the tape, cut off, frozen on the way") {
  const DeadNetwork net;
  WhyFacts facts;
  facts.tape = &net.tape;
  ParameterStatistics spare = measured("spare.weight", 5000, kHealthy, {}, std::nan(""));
  spare.has_gradient = false;
  facts.steps = {sampled(40, {spare})};
  const WhyTrail never = why(facts, {.parameter = "spare.weight"});
  expect_in_order(never, {"No backward pass reaches spare.weight", "none in any measured step",
                          "module spare", "detach()", "optimizer updates it at model.lua:14"});
  ParameterStatistics then = spare;
  then.has_gradient = true;
  then.gradient = kHealthy;
  facts.steps = {sampled(10, {then}), sampled(40, {spare})};
  facts.changes = {{12, "freeze spare", {}}};
  expect_in_order(why(facts, {.parameter = "spare.weight"}), {"gradient in step 10", "freeze spare"});

  // A reader that gets a gradient and has no derivative for this operand.
  MeasuredTape made;
  const uint64_t x = made.leaf("x", kHealthy);
  const uint64_t compared = made.call("one_sided", {x}, {"input"}, kHealthy, kHealthy);
  made.without_gradient(x);
  made.call("sum", {compared}, {"input"}, single(0), single(1), {}, 13, {});
  expect_in_order(made.why_node(x), {"No gradient reaches x", "passes no gradient to this operand"});
}

TEST_CASE("whatever is asked, there is an answer, and what is not known is said") {
  WhyFacts nothing;
  Alarm alarm{};
  alarm.subject = "w";
  for (const AlarmRule& rule : alarm_rules())
    for (const bool found : {false, true}) {
      alarm.kind = rule.kind;
      alarm.found = found;
      expect_sentences(why(nothing, {.alarm = alarm}));
    }
  CHECK(why(nothing, {.node = 5}).links.front().sentence.find("not known") != std::string::npos);
  expect_in_order(why(nothing, {.parameter = "w"}), {"No measured step"});
  // A tape without figures, and every node of a tape with modules.
  const TapeSnapshot tape = test::residual_tape(3);
  WhyFacts facts;
  facts.tape = &tape;
  for (const NodeInfo& node : tape.nodes) expect_sentences(why(facts, {.node = node.id}));
  facts.steps = {sampled(1, {})};
  for (const NodeInfo& node : tape.nodes) expect_sentences(why(facts, {.node = node.id}));
}

TEST_CASE("an alarm that does not hold in the shown step is not explained by it") {
  MeasuredTape made;
  const uint64_t w = made.leaf("w", kHealthy);
  made.call("sum", {w}, {"input"}, single(1), single(1), {}, 13, {});
  const TapeSnapshot tape = made.snapshot();
  WhyFacts facts;
  facts.tape = &tape;
  const Alarm alarm = alarm_about(AlarmKind::dead, "w", w);
  expect_in_order(why(facts, {.alarm = alarm}), {"In the shown step the gradient of w is not 0"});
}

TEST_CASE("figures of a measured step are used for the tape of another step") {
  const DeadNetwork net;
  TapeSnapshot later = net.tape;  // the same ops as other nodes, not measured
  std::vector<NodeStatistics> nodes;
  for (NodeInfo& node : later.nodes) {
    NodeStatistics figures;
    figures.node = node.id;
    figures.op = node.op;
    figures.place = node.place;
    figures.has_gradient = node.gradient_summary.has_value();
    if (node.gradient_summary) figures.gradient = *node.gradient_summary;
    if (node.output_summary) figures.output = *node.output_summary;
    nodes.push_back(figures);
    node.output_summary.reset();
    node.gradient_summary.reset();
    if (node.op != "leaf") node.id += 100;
    for (OperandInfo& input : node.inputs)
      if (input.node == net.linear || input.node == net.relu) input.node += 100;
  }
  later.has_statistics = false;
  later.step = 41;
  WhyFacts facts;
  facts.tape = &later;
  const Summary now = between(-22, -19);
  facts.steps = {sampled(40, net.parameters(now, now.norm, all_zeros()), nodes)};
  const WhyTrail trail = why(facts, {.parameter = "hidden.weight"});
  expect_in_order(trail, {"gives only zeros", "hidden.bias is about -20"});
  CHECK(link_with(trail, "gives only zeros").node == net.relu + 100);
}

TEST_CASE(
    "nodes with alarms: parameters by their node, ops by their line, in the steps in which the alarm held") {
  const DeadNetwork net;
  Alarms alarms;
  Alarm found{};
  found.kind = AlarmKind::nan;
  found.op = "relu";
  found.place = {"train.lua", 12};
  found.since = 30;
  alarms.set_found({found}, 30);
  const uint64_t before = alarms.revision();
  std::vector<int> of = node_alarms(net.tape, alarms);
  REQUIRE(of.size() == net.tape.nodes.size());
  for (size_t i = 0; i < of.size(); ++i) CHECK(of[i] == (net.tape.nodes[i].op == "relu" ? 0 : -1));
  TapeSnapshot early = net.tape;
  early.step = 29;
  for (const int rule : node_alarms(early, alarms)) CHECK(rule == -1);
  alarms.set_found({}, 35);
  CHECK(alarms.revision() > before);
  for (const int rule : node_alarms(net.tape, alarms)) CHECK(rule == -1);
  // Values that are not finite need no alarm.
  TapeSnapshot bad = net.tape;
  bad.nodes[0].output_summary = broken(1, 0);
  CHECK(node_alarms(bad, Alarms())[0] == 0);
}
