// Statistics of training steps, compared with values that the script computes.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "runtime/core/op.h"
#include "runtime/ops.h"
#include "runtime/statistics/summary_op.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

const ParameterStatistics* find_parameter(const StepStatistics& step, const std::string& name) {
  for (const ParameterStatistics& p : step.parameters)
    if (p.name == name) return &p;
  return nullptr;
}

// Two layers; pauses after step 2, so that steps 1 and 2 can be compared with the output.
const char* const kNet = R"(
local lg = require "lunagrad"
local nn = lg.nn
lg.manual_seed(3)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
spare = nn.Linear(3, 3)
local list = model:parameters()
spare.weight:requires_grad_(true)
list[#list + 1] = spare.weight
core = require "lunagrad.core"
core._set_name(spare.weight, "spare")
opt = lg.optim.SGD(list, {lr = 0.1})
x, y = lg.randn(8, 4), lg.randn(8, 2)
for step in lg.run.steps(3) do
  opt:zero_grad()
  before = model[1].weight:detach():clone()
  nn.functional.mse_loss(model(x), y):backward()
  opt:step()
  gradient = model[1].weight.grad
  after = model[1].weight:detach()
  if step == 1 then print("found", gradient:norm():item(), after:norm():item(), (after - before):norm():item()) end
end
)";

// Asks for the figures of the step at which the script stands; whether there are new ones.
bool measures_pause(Recorder& recorder) {
  return ask<bool>([&](auto done) { recorder.session.measure_step({}, done); });
}

}  // namespace

TEST_CASE("a summary agrees with the reductions, for odd layouts, NaN, Inf and empty tensors") {
  const Tensor x = randn({33, 70});
  for (const Tensor& one :
       {x, transpose(x, 0, 1), slice(x, 1, 3, 60, 3), to(x, DType::f64), to(x, DType::bf16)}) {
    const Summary s = summarize(one);
    CHECK(s.count == one.numel());
    CHECK(s.norm == doctest::Approx(norm(to(one, DType::f64)).item()).epsilon(1e-5));
    CHECK(s.mean == doctest::Approx(mean(to(one, DType::f64)).item()).epsilon(1e-4));
    CHECK(s.mean_magnitude == doctest::Approx(mean(abs(to(one, DType::f64))).item()).epsilon(1e-4));
    CHECK(s.min == doctest::Approx(amin(one).item()));
    CHECK(s.max == doctest::Approx(amax(one).item()));
    CHECK(s.finite());
  }
  const float values[] = {0, 3, NAN, -4, INFINITY, -INFINITY, 0};
  const Summary s = summarize(Tensor::from<float>(values, {7}));
  CHECK(s.nans == 1);
  CHECK(s.infs == 2);
  CHECK(s.zeros == 2);
  CHECK(s.norm == 5);
  CHECK(s.largest() == 4);
  CHECK(summarize(Tensor::empty({0, 3}, DType::f32)).count == 0);
  CHECK(summarize(ones({3}, DType::i64)).norm == 0);
}

TEST_CASE("a device without a kernel for summaries gets the same numbers from reductions") {
  const NoGrad off;
  const float bad[] = {0, 3, NAN, -4, INFINITY, -INFINITY, 0}, nothing_good[] = {NAN, INFINITY};
  for (const Tensor& x :
       {randn({33, 70}), Tensor::from<float>(bad, {7}), Tensor::from<float>(nothing_good, {2}), zeros({5}),
        randn({50}) * 1e30, to(randn({50}), DType::f64)}) {
    const Summary right = summarize(x);
    const std::vector<double> row =
        apply1(summary_op(), {x}).to_vector<double>();  // on the CPU: its composition
    REQUIRE(row.size() == 8);
    const double scale = right.largest() > 0 ? right.largest() : 1;
    CHECK(scale * std::sqrt(row[1]) == doctest::Approx(right.norm).epsilon(1e-5));
    CHECK(row[2] == doctest::Approx(right.min));
    CHECK(row[3] == doctest::Approx(right.max));
    CHECK(row[4] == right.zeros);
    CHECK(row[5] == right.nans);
    CHECK(row[6] == right.infs);
  }
}

TEST_CASE("a measured step has the script's norms, and lists parameters without a gradient") {
  Recorder recorder;
  recorder.session.watch_statistics(true);
  REQUIRE(recorder.finish(kNet) == Outcome::ok);
  const auto steps = recorder.session.statistics();
  REQUIRE(!steps.empty());
  const StepStatistics& first = *steps[0];
  CHECK(first.step == 1);
  CHECK(first.cost_ns > 0);
  const ParameterStatistics* const weight = find_parameter(first, "model.0.weight");
  REQUIRE(weight);
  double gradient = 0, norm = 0, update = 0;
  REQUIRE(std::sscanf(recorder.output().c_str(), "found %lf %lf %lf", &gradient, &norm, &update) == 3);
  CHECK(weight->gradient.norm == doctest::Approx(gradient).epsilon(1e-5));
  CHECK(weight->weight.norm == doctest::Approx(norm).epsilon(1e-5));
  CHECK(weight->update_norm == doctest::Approx(update).epsilon(1e-5));
  CHECK(weight->update_ratio() == doctest::Approx(update / norm).epsilon(1e-5));
  CHECK(weight->shape == std::vector<int64_t>{6, 4});
  CHECK(weight->optimized);
  CHECK(weight->updated_at.line == 18);  // of the script, not of the optimizer's own file
  int64_t counted = 0;
  for (const int64_t count : weight->counts) counted += count;
  CHECK(counted == 24);
  CHECK(weight->edges.size() == weight->counts.size() + 1);
  const ParameterStatistics* const spare = find_parameter(first, "spare");
  REQUIRE(spare);
  CHECK_FALSE(spare->has_gradient);
  CHECK(std::isnan(spare->update_norm));
  CHECK(spare->weight.norm > 0);
  // Nodes start with the loss; each has summaries of its output and its gradient.
  bool relu = false;
  for (const NodeStatistics& node : first.nodes) {
    if (node.op != "relu") continue;
    relu = true;
    CHECK(node.output.count == 48);
    CHECK(node.output.zeros > 0);
    CHECK(node.gradient.norm > 0);
    CHECK(node.place.line == 17);
  }
  CHECK(relu);
  CHECK(recorder.session.statistics(steps.back()->number).empty());
}

TEST_CASE("the nodes of a tape have the summaries of their step") {
  Recorder recorder;
  recorder.session.watch_statistics(true);
  recorder.session.watch_tape(true);
  Breakpoint second;
  second.condition = Breakpoint::Condition::step;
  second.step = 2;
  REQUIRE(recorder.session.add_breakpoint(second));
  recorder.run(kNet);
  REQUIRE(recorder.reaches(SessionState::paused));
  const auto tape = recorder.session.tape();
  REQUIRE(tape);
  CHECK(tape->has_statistics);
  for (const NodeInfo& node : tape->nodes) {
    CAPTURE(node.op);
    REQUIRE(node.gradient_summary);
    CHECK(node.gradient_summary->norm > 0);
    CHECK(node.output_summary.has_value() == (node.op != "leaf"));
  }
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
}

TEST_CASE("a pause in a step that was passed over: its figures are computed again, as the step had them") {
  // The gradients are as backward() left them, or changed in place, or gone.
  for (const char* then :
       {"", "for _, p in ipairs(model:parameters()) do p.grad:mul_(0.125) end", "drop = true"}) {
    CAPTURE(then);
    const std::string net = text(R"(
local lg = require "lunagrad"
local nn = lg.nn
lg.manual_seed(3)
local model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 2))
local opt = lg.optim.SGD(model:parameters(), {lr = 0.1, momentum = 0.9})
local x, y = lg.randn(8, 4), lg.randn(8, 2)
for step in lg.run.steps(9) do
  local drop = false
  for _, p in ipairs(model:parameters()) do p.grad = nil end
  nn.functional.mse_loss(model(x), y):backward()
  )",
                                 then, R"(
  opt:step()
  if drop then for _, p in ipairs(model:parameters()) do p.grad = nil end end
end
print(("%a"):format(model[1].weight:sum():item())))");
    Recorder all;
    all.session.watch_statistics(true, 1);
    REQUIRE(all.finish(net) == Outcome::ok);
    StepStatisticsPtr right;
    for (const StepStatisticsPtr& step : all.session.statistics())
      if (step->step == 7) right = step;
    REQUIRE(right);

    Recorder recorder;
    recorder.session.watch_statistics(true, 1000);
    recorder.session.watch_tape(true);
    Breakpoint eighth;  // pauses at the start of step 8, which shows step 7
    eighth.condition = Breakpoint::Condition::step;
    eighth.step = 8;
    REQUIRE(recorder.session.add_breakpoint(eighth));
    recorder.run(net);
    REQUIRE(recorder.reaches(SessionState::paused));
    REQUIRE(recorder.session.tape());
    CHECK(recorder.session.tape()->step == 7);
    CHECK_FALSE(recorder.session.tape()->has_statistics);
    CHECK(recorder.session.statistics().back()->step == 1);
    CHECK(measures_pause(recorder));
    const StepStatisticsPtr found = recorder.session.statistics().back();
    CHECK(found->step == 7);
    REQUIRE(found->parameters.size() == right->parameters.size());
    for (size_t i = 0; i < found->parameters.size(); ++i) {
      const ParameterStatistics &a = found->parameters[i], &b = right->parameters[i];
      CAPTURE(b.name);
      CHECK(a.name == b.name);
      CHECK(a.has_gradient == b.has_gradient);
      CHECK(a.gradient.norm == b.gradient.norm);
      CHECK(a.weight.norm == b.weight.norm);
      CHECK(a.update_norm == doctest::Approx(b.update_norm).epsilon(1e-5));
      CHECK(a.edges == b.edges);
      CHECK(a.counts == b.counts);
    }
    REQUIRE(found->nodes.size() == right->nodes.size());
    for (size_t i = 0; i < found->nodes.size(); ++i) {
      CHECK(found->nodes[i].op == right->nodes[i].op);
      CHECK(found->nodes[i].output.norm == right->nodes[i].output.norm);
      CHECK(found->nodes[i].gradient.norm == right->nodes[i].gradient.norm);
    }
    CHECK(recorder.session.tape()->step == 7);
    CHECK(recorder.session.tape()->has_statistics);
    CHECK_FALSE(measures_pause(recorder));  // it is known by now
    recorder.session.resume();
    REQUIRE(recorder.session.wait() == Outcome::ok);
    CHECK(recorder.output() == all.output());
  }
}

TEST_CASE("a pause does not call the script's own ops again; the gradients of parameters are there") {
  Recorder recorder;
  recorder.session.watch_statistics(true, 1000);
  recorder.session.watch_tape(true);
  Breakpoint fifth;
  fifth.condition = Breakpoint::Condition::step;
  fifth.step = 5;
  REQUIRE(recorder.session.add_breakpoint(fifth));
  recorder.run(R"(
local lg = require "lunagrad"
local calls = 0
local twice = lg.custom_op{name = "twice",
  forward = function(ctx, x) calls = calls + 1 return x * 2 end,
  backward = function(ctx, g) return g * 2 end}
local w = lg.ones(3, {requires_grad = true})
for step in lg.run.steps(6) do
  local loss = twice(w * step):sum()  -- the pause is before this call
  w.grad = nil
  loss:backward()
end
print("calls", calls))");
  REQUIRE(recorder.reaches(SessionState::paused));
  CHECK(measures_pause(recorder));
  const StepStatisticsPtr found = recorder.session.statistics().back();
  CHECK(found->step == 4);
  REQUIRE(found->parameters.size() == 1);
  CHECK(found->parameters[0].gradient.max == 8);
  recorder.session.resume();
  REQUIRE(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.printed("calls\t6"));
}

TEST_CASE("without a tape, and while a script runs, nothing is measured for a viewer") {
  Recorder recorder;
  CHECK_FALSE(measures_pause(recorder));
  recorder.session.watch_tape(true);
  REQUIRE(recorder.finish("print('no tape')") == Outcome::ok);
  CHECK_FALSE(measures_pause(recorder));
}

TEST_CASE("nothing is measured without a viewer") {
  Recorder recorder;
  REQUIRE(recorder.finish(kNet) == Outcome::ok);
  CHECK(recorder.session.statistics().empty());
}

TEST_CASE("measuring takes at most 2 % of a long run, and reports how often it was done") {
  Recorder recorder;
  recorder.session.watch_statistics(true);
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(recorder.finish(R"(
    local lg = require "lunagrad"
    local nn = lg.nn
    local model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    local opt = lg.optim.SGD(model:parameters(), {lr = 0.01})
    local x, y = lg.randn(64, 64), lg.randn(64, 10)
    for step in lg.run.steps(600) do
      opt:zero_grad()
      nn.functional.mse_loss(model(x), y):backward()
      opt:step()
    end)") == Outcome::ok);
  const double whole =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  const auto steps = recorder.session.statistics();
  REQUIRE(!steps.empty());
  CHECK(steps[0]->step == 1);
  int64_t last = 0;
  double cost = 0;  // of all but the last one: after each of them the run continued for fifty times its cost
  for (const StepStatisticsPtr& step : steps) {
    CHECK(step->step == last + (last ? step->every : 1));
    last = step->step;
    if (step != steps.back()) cost += step->cost_ns;
  }
  CHECK(cost * 50 <= whole);
}

TEST_CASE("every second step is measured on request, whatever it costs") {
  Recorder recorder;
  recorder.session.watch_statistics(true, 2);
  REQUIRE(recorder.finish(R"(
    local lg = require "lunagrad"
    local w = lg.ones(3, {requires_grad = true})
    for step in lg.run.steps(7) do w:square():sum():backward() end)") == Outcome::ok);
  std::vector<int64_t> looked;
  for (const StepStatisticsPtr& step : recorder.session.statistics()) looked.push_back(step->step);
  CHECK(looked == std::vector<int64_t>{1, 3, 5, 7});
}

TEST_CASE("measuring does not change the weights, bit by bit") {
  const std::string net = std::string(kNet) + "\nprint(('%a'):format(model[1].weight:sum():item()))";
  Recorder plain, watched;
  watched.session.watch_statistics(true);
  REQUIRE(plain.finish(net) == Outcome::ok);
  REQUIRE(watched.finish(net) == Outcome::ok);
  CHECK(plain.output() == watched.output());
}
