// Runs a node's call again: gradient against differences, device against device; the run is unchanged.
#include <doctest/doctest.h>

#include <future>

#include "runtime/core/device.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// Pauses after the first captured step of a script whose loop calls step().
void stand_behind_a_step(Recorder& recorder, const std::string& body) {
  recorder.session.watch_tape(true);
  recorder.run("local lg = require 'lunagrad'\nlocal F = lg.nn.functional\nlg.manual_seed(3)\n" + body +
               "\nfor i in lg.run.steps() do step() print('step ' .. i) end");
  REQUIRE(recorder.pauses_after("step 1\n"));
  for (int i = 0; i < 2; ++i) {  // the pause may be inside a step
    recorder.session.step();
    REQUIRE(recorder.pauses_again());
  }
}

uint64_t node_of(Recorder& recorder, const std::string& op) {
  for (const NodeInfo& node : recorder.session.tape()->nodes)
    if (node.op == op) return node.id;
  FAIL("no node " << op);
  return 0;
}

GradientCheck check(Recorder& recorder, const std::string& op, std::stop_token stop = {}) {
  std::promise<GradientCheck> promise;
  recorder.session.check_gradient(-1, node_of(recorder, op), stop,
                                  [&](GradientCheck found) { promise.set_value(std::move(found)); });
  return promise.get_future().get();
}

DeviceComparison compare(Recorder& recorder, const std::string& op) {
  std::promise<DeviceComparison> promise;
  recorder.session.compare_devices(-1, node_of(recorder, op), {},
                                   [&](DeviceComparison found) { promise.set_value(std::move(found)); });
  return promise.get_future().get();
}

void finish(Recorder& recorder) {
  recorder.session.stop();
  recorder.session.wait();
}

constexpr const char* kNetwork = R"(
local w = lg.randn(5, 8):requires_grad_()
local b = lg.randn(5):requires_grad_()
local x, y = lg.randn(16, 8), lg.randint(0, 5, {16})
function step()
  local h = F.linear(x, w, b)
  local loss = F.cross_entropy(F.dropout(h:relu():softmax(2), 0.5), y)
  w.grad, b.grad = nil, nil
  loss:backward()
end
)";

}  // namespace

TEST_CASE("the gradients of the engine's ops are correct inside a network") {
  Recorder recorder;
  stand_behind_a_step(recorder, kNetwork);
  for (const char* op : {"linear", "relu", "softmax", "_cross_entropy"}) {
    CAPTURE(op);
    const GradientCheck found = check(recorder, op);
    CAPTURE(found.reason);
    CHECK(found.ran);
    CHECK(found.ok);
    REQUIRE_FALSE(found.inputs.empty());
    for (const GradientCheck::Input& input : found.inputs) {
      CAPTURE(input.name);
      CHECK(input.checked > 0);
      CHECK(input.worst < 1e-6);
    }
  }
  // Only weight and bias get gradients.
  CHECK(check(recorder, "linear").inputs.size() == 2);
  CHECK(check(recorder, "leaf").reason == "a leaf was made by no call");
  finish(recorder);
}

TEST_CASE("a wrong gradient of a custom op is caught, at its worst element") {
  const auto script = [](const char* factor) {
    return std::string(R"(
local cube = lg.custom_op{name = "cube",
  forward = function(ctx, x, k) ctx:save(x) ctx.k = k return x * x * x * k end,
  backward = function(ctx, g) local x = ctx:saved() return g * x * x * ()") +
           factor + R"( * ctx.k) end}
local w = lg.tensor{1.0, -2.0, 0.5}:float():requires_grad_()
function step() w.grad = nil cube(w, 2):sum():backward() end
)";
  };
  {
    Recorder recorder;
    stand_behind_a_step(recorder, script("3"));
    const GradientCheck right = check(recorder, "cube");
    CAPTURE(right.reason);
    CHECK(right.ran);
    CHECK(right.ok);
    finish(recorder);
  }
  Recorder recorder;
  stand_behind_a_step(recorder, script("2"));
  const GradientCheck wrong = check(recorder, "cube");
  CAPTURE(wrong.reason);
  REQUIRE(wrong.ran);
  CHECK_FALSE(wrong.ok);
  REQUIRE(wrong.inputs.size() == 1);
  CHECK(wrong.inputs[0].at == std::vector<int64_t>{1});
  CHECK(wrong.inputs[0].gradient / wrong.inputs[0].difference == doctest::Approx(2.0 / 3));
  finish(recorder);
}

TEST_CASE("at a kink any slope between both sides is correct") {
  Recorder recorder;
  stand_behind_a_step(recorder, R"(
local w = lg.tensor{0.0, 1.0, -1.0, 0.0}:float():requires_grad_()
function step() w.grad = nil w:relu():sum():backward() end
)");
  const GradientCheck found = check(recorder, "relu");
  CHECK(found.ok);
  REQUIRE(found.inputs.size() == 1);
  CHECK(found.inputs[0].kinks == 2);
  finish(recorder);
}

TEST_CASE("a check leaves gradients and random numbers of the run unchanged") {
  Recorder recorder;
  stand_behind_a_step(recorder,
                      std::string(kNetwork) + "\nfunction gradient() return w.grad:sum():item() end");
  const auto numbers = [&] {
    const size_t before = recorder.output().size();
    CHECK(
        recorder.eval("local s = lg.get_rng_state() local a = lg.randn(4) lg.set_rng_state(s) "
                      "print(a:sum():item(), gradient())"));
    return recorder.output().substr(before);
  };
  const std::string before = numbers();
  CHECK(before.find('.') != std::string::npos);
  CHECK(check(recorder, "linear").ran);
  CHECK(check(recorder, "softmax").ran);
  compare(recorder, "linear");
  CHECK(numbers() == before);
  finish(recorder);
}

TEST_CASE("a cancelled check ends; after a run its last step can be checked") {
  Recorder recorder;
  stand_behind_a_step(recorder, kNetwork);
  std::stop_source stop;
  stop.request_stop();
  CHECK(check(recorder, "linear", stop.get_token()).reason == "check gradient: cancelled");
  finish(recorder);

  Recorder free;
  free.session.watch_tape(true);
  free.finish(
      "local lg = require 'lunagrad' local w = lg.ones(2):requires_grad_() for i in lg.run.steps(2) do "
      "(w * 2):sum():backward() end");
  CHECK(check(free, "mul").ok);
}

TEST_CASE("devices are compared, or the answer says what is missing") {
  Recorder recorder;
  stand_behind_a_step(recorder, kNetwork);
  const DeviceComparison found = compare(recorder, "linear");
  if (devices().size() < 2) {
    CHECK_FALSE(found.ran);
    CHECK(found.reason.find("no Vulkan device") == 0);
  } else {
    CAPTURE(found.reason);
    REQUIRE(found.ran);
    REQUIRE(found.outputs.size() == 1);
    CHECK(found.outputs[0].count == 80);
    CHECK(found.outputs[0].relative < 1e-5);
    CHECK(found.outputs[0].errors.size() == 80);
  }
  finish(recorder);
}
