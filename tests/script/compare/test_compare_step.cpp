// Session::compare_step: of the step after which a run stops, and of a step that a paused run keeps.
#include <doctest/doctest.h>

#include <future>

#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

constexpr const char* kScript = R"(
local lg = require 'lunagrad'
local w = lg.randn(4, 3):requires_grad_()
local square = lg.custom_op{name = "square_it",
  forward = function(ctx, x) ctx:save(x) return x * x end,
  backward = function(ctx, g) return g * 2 * ctx:saved() end}
for i in lg.run.steps() do
  w.grad = nil
  local inner = lg.grad((w:sin() * w):sum(), {w}, {create_graph = true})[1]
  local loss = square(inner):sum() + w:exp():mean()
  loss:backward()
  print('step ' .. i)
end
)";

StepComparison compare(Recorder& recorder, ComparisonQuery query, std::stop_token stop = {}) {
  std::promise<StepComparison> promise;
  size_t last = 0, all = 0;
  recorder.session.compare_step(
      -1, query, stop,
      [&](size_t done, size_t of, std::string_view) {
        CHECK(done >= last);
        last = done;
        all = of;
      },
      [&](StepComparison found) { promise.set_value(std::move(found)); });
  StepComparison found = promise.get_future().get();
  if (found.ran) CHECK(last == all);
  return found;
}

void check_compared(const StepComparison& found) {
  CAPTURE(found.reason);
  REQUIRE(found.ran);
  CHECK(found.wrong == 0);
  CHECK(found.not_compared == 0);
  // The outer pass goes through the inner one, whose nodes are listed once.
  size_t sines = 0, customs = 0;
  for (const ComparedNode& node : found.nodes) {
    sines += node.op == "sin" && !node.backward;
    customs += node.op == "square_it";
    CHECK(node.pass == found.nodes[0].pass);
  }
  CHECK(sines == 1);
  CHECK(customs == 2);
}

}  // namespace

TEST_CASE("a run stops after a step, whose nodes are compared") {
  Recorder recorder;
  recorder.session.stop_behind(4);
  recorder.run(kScript);
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(recorder.session.reached());
  CHECK(recorder.output().ends_with("step 4\n"));
  const StepComparison found = compare(recorder, {.with = "f64"});
  check_compared(found);
  CHECK(found.step == 4);
  CHECK(found.other == "f64");
  CHECK(compare(recorder, {.with = "nowhere"}).outcome == Outcome::device);
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(compare(recorder, {.with = "f64"}, stop.get_token()).ran);
  // A new run has no step to compare.
  CHECK(recorder.finish("local lg = require 'lunagrad'") == Outcome::ok);
  CHECK_FALSE(recorder.session.reached());
}

TEST_CASE("the step of a paused run is compared, and the run goes on as if it was not") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.run(kScript);
  REQUIRE(recorder.pauses_after("step 2\n"));
  recorder.session.step();
  REQUIRE(recorder.pauses_again());
  check_compared(compare(recorder, {.with = "f64"}));
  recorder.session.step();
  REQUIRE(recorder.pauses_again());
  check_compared(compare(recorder, {.with = "bf16"}));
  recorder.session.stop();
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(recorder.events(Event::Kind::error).empty());
}
