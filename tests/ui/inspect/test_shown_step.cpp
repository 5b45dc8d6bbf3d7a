// The window shows one step throughout: the picture of the tape, the selected node's value and gradient, and
// the number above them.
#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <random>
#include <thread>

#include "tests/support/timing.h"
#include "tests/ui/null_host.h"
#include "ui/workbench/workbench.h"

using namespace lunagrad;

namespace {

// Every value and gradient follows from the number of the step.
constexpr const char* kSteps = R"(
local lg = require "lunagrad"
local w = lg.zeros(3):requires_grad_()
for step in lg.run.steps() do
  lg.no_grad(function() w:fill_(step) end)
  local x = lg.full({3}, step)
  local y = w * x
  local z = y * x
  w.grad = nil
  z:sum():backward()
  lg.no_grad(function() w:add_(1) end)
end
)";

uint64_t hash(const std::vector<double>& cells) {
  uint64_t hash = 1469598103934665603u;
  for (const double cell : cells) hash = (hash ^ std::bit_cast<uint64_t>(cell)) * 1099511628211u;
  return hash;
}

uint64_t hash_of(double value) { return hash(std::vector<double>(3, value)); }

// Two threads that take the processor from the script and the window.
class Load {
 public:
  Load() {
    for (int i = 0; i < 2; ++i)
      threads_.emplace_back([](std::stop_token stop) {
        while (!stop.stop_requested()) {
        }
      });
  }

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace

TEST_CASE("picture, value, gradient and the number of the step are of one step, at 500 random moments") {
  const tests::NullHost host;
  const PanelHost fonts({.font = host.font()});
  Workbench bench("", {.write_run = false, .interactive = true}, [] {});
  bench.live_session().run_text(kSteps, "=steps", {.write_run = false, .interactive = true});
  const Load load;
  std::mt19937 random(7);
  const auto one_of = [&](int count) { return int(random() % unsigned(count)); };
  int moments = 0, wrong = 0, values = 0, gradients = 0, running = 0;
  std::string first;
  ValueProbe::Look look;
  look.slice.statistics = false;
  bench.inspection().look_at(look, look);
  double last = tests::seconds_of(CLOCK_MONOTONIC);  // moment
  while (moments < 500 && tests::seconds_of(CLOCK_MONOTONIC) - last < tests::kHangSeconds) {
    std::this_thread::sleep_for(std::chrono::microseconds(500 + one_of(4000)));
    bench.update();
    const TapeSnapshot* const tape = bench.tape().tape();
    if (!tape) continue;
    if (one_of(8) == 0) bench.control().pause_or_resume();
    if (one_of(12) == 0) bench.control().step();
    if (one_of(10) == 0) bench.shown().move(one_of(2) ? 1 : -1);
    if (one_of(30) == 0) bench.shown().go_live();
    if (one_of(10) == 0 || !bench.tape().selected_node())
      bench.tape_actions().select(one_of(int(tape->nodes.size())));
    const NodeInfo* const node = bench.tape().selected_node();
    if (!node || node->op == "sum") continue;
    // The selection may be newer than the values: they are drawn after the next update.
    bench.update();
    if (bench.tape().selected_node() == nullptr || bench.tape().selected_node()->op == "sum") continue;
    const NodeInfo& now = *bench.tape().selected_node();
    const double step = double(bench.shown().step());
    const bool is_y =
        !now.inputs.empty() && bench.tape().find_node(now.inputs[0].node) >= 0 &&
        bench.tape().tape()->nodes[size_t(bench.tape().find_node(now.inputs[0].node))].op == "leaf";
    const bool leaf = now.op == "leaf";
    const float x = float(step), square = x * x;  // as the script computes them
    const double value = leaf ? x : is_y ? square : square * x;
    const double gradient = leaf ? square : is_y ? x : 1;
    ++moments;
    last = tests::seconds_of(CLOCK_MONOTONIC);
    running += bench.journal().state() == SessionState::running;
    const auto check = [&](const std::shared_ptr<const SliceView>& view, double expected, const char* what,
                           int& seen) {
      if (!view || !view->available) return;
      ++seen;
      if (hash(view->cells) == hash_of(expected) && view->step == int64_t(step)) return;
      if (wrong++ == 0)
        first = std::string(what) + " of " + now.op + " at step " + std::to_string(step) + ": " +
                std::to_string(view->cells[0]) + " of step " + std::to_string(view->step);
    };
    check(bench.inspection().probe().value(), value, "value", values);
    check(bench.inspection().probe().gradient(), gradient, "gradient", gradients);
  }
  CAPTURE(first);
  CHECK(moments == 500);
  CHECK(wrong == 0);
  CHECK(values > 250);
  CHECK(gradients > 250);
  CHECK(running > 50);
  bench.control().stop();
  bench.control().stop();
}
