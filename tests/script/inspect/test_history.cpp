// The steps that a session keeps for a viewer: their tapes, their values as they were, and the budget.
#include <doctest/doctest.h>

#include <future>

#include "runtime/io/npy.h"
#include "runtime/ops.h"
#include "tests/support/program.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// w changes in each step, so that values of different steps differ.
constexpr const char* kHistoryScript = R"(
local lg = require "lunagrad"
local w = lg.tensor{1.0, 2.0, 3.0}:float():requires_grad_()
for step in lg.run.steps(steps or 1000000) do
  local x = lg.full({3}, step)
  local y = w * x
  local loss = y:sum()
  w.grad = nil
  loss:backward()
  lg.no_grad(function() w:add_(lg.ones(3)) end)
  print("step " .. step)
end
)";

SliceView inspected(Session& session, const TensorPlace& place) {
  return ask<SliceView>([&](auto done) { session.inspect(place, {}, {}, done); });
}

const NodeInfo* find_node(const TapeSnapshot& tape, const std::string& op) {
  for (const NodeInfo& node : tape.nodes)
    if (node.op == op) return &node;
  return nullptr;
}

// Starts a script that prints its steps, watches its tape and waits until it is inside its steps. The
// recorder's end stops it.
void watch(Recorder& recorder, const std::string& code) {
  recorder.session.watch_tape(true);
  recorder.run(code);
  REQUIRE(recorder.printed("step 2\n"));
}

// Pauses and makes `count` captured steps; if the pause is inside a step, its rest runs first.
void pause_and_step(Recorder& recorder, const std::string& code, int count) {
  watch(recorder, code);
  recorder.session.pause();
  REQUIRE(recorder.reaches(SessionState::paused));
  for (int i = 0; i < count + 1; ++i) {
    recorder.session.step();
    REQUIRE(recorder.pauses_again());
  }
}

}  // namespace

TEST_CASE("kept steps have the values of their step, weights included") {
  Recorder recorder;
  pause_and_step(recorder, kHistoryScript, 4);
  const History history = recorder.session.history();
  int captured = 0;
  for (const KeptStep& kept : history.steps) {
    if (!kept.complete) continue;
    ++captured;
    CAPTURE(kept.step);
    const auto tape = recorder.session.tape(kept.step);
    REQUIRE(tape);
    CHECK(tape->step == kept.step);
    const NodeInfo* const mul = find_node(*tape, "mul");
    const NodeInfo* const leaf = find_node(*tape, "leaf");
    REQUIRE(mul);
    REQUIRE(leaf);
    const double k = double(kept.step);
    CHECK(inspected(recorder.session, {kept.step, leaf->id}).cells == std::vector<double>{k, k + 1, k + 2});
    CHECK(inspected(recorder.session, {kept.step, mul->id}).cells ==
          std::vector<double>{k * k, (k + 1) * k, (k + 2) * k});
    CHECK(inspected(recorder.session, {kept.step, mul->id, true, 1}).cells == std::vector<double>{k, k, k});
    CHECK(inspected(recorder.session, {kept.step, leaf->id, false, 0, Which::gradient}).cells ==
          std::vector<double>{k, k, k});
    CHECK(inspected(recorder.session, {kept.step, mul->id, true, 1, Which::gradient}).reason ==
          "it needs no gradient");
  }
  CHECK(captured >= 4);
  CHECK(history.bytes > 0);
  CHECK(history.budget == kHistoryBudget);
  CHECK(recorder.session.tape(-7) == nullptr);
}

TEST_CASE("tapes take at most a quarter of the budget of kept steps") {
  Recorder recorder;
  const size_t budget = size_t(128) << 10;
  recorder.session.set_history_budget(budget);
  pause_and_step(recorder, kHistoryScript, 60);
  const History history = recorder.session.history();
  size_t bytes = 0;
  for (const KeptStep& kept : history.steps) bytes += kept.tape_bytes;
  const size_t each = history.steps.back().tape_bytes;
  REQUIRE(60 * each > budget / 4);
  CHECK(bytes <= budget / 4);
  CHECK(bytes + 2 * each > budget / 4);
}

TEST_CASE("a tensor with slow statistics is shown before them") {
  Recorder recorder;
  pause_and_step(recorder, R"(
local lg = require "lunagrad"
local w = lg.ones(20000):requires_grad_()
for step in lg.run.steps() do
  local loss = w:unfold(1, 2000, 1):sum() + w:expand(3000, 20000):sum()
  loss:backward()
  w.grad = nil
  print("step " .. step)
end
)",
                 1);
  const auto tape = recorder.session.tape();
  const auto answers = [&](const char* op) {
    std::vector<SliceView> seen;
    std::promise<void> done;
    recorder.session.inspect({-1, find_node(*tape, op)->id}, {}, {}, [&](SliceView view) {
      seen.push_back(std::move(view));
      if (seen.back().has_statistics) done.set_value();
    });
    done.get_future().get();
    return seen;
  };
  const std::vector<SliceView> dense = answers("unfold"), expanded = answers("expand");
  REQUIRE(dense.size() == 2);
  CHECK(dense[0].available);
  CHECK(dense[0].statistics_follow);
  CHECK(dense[0].cells == dense[1].cells);
  CHECK_FALSE(dense[1].statistics_follow);
  CHECK(dense[1].statistics.count == int64_t(18001) * 2000);
  REQUIRE(expanded.size() == 1);  // 60 million elements in the memory of 20000
  CHECK(expanded[0].statistics.count == int64_t(3000) * 20000);
}

TEST_CASE("a viewer's pause finds a whole step") {
  Recorder recorder;
  watch(recorder, kHistoryScript);
  // On a busy machine a step may take longer than a pause waits, but not every time.
  const auto whole = [&] {
    recorder.session.pause();
    REQUIRE(recorder.reaches(SessionState::paused));
    const History history = recorder.session.history();
    return !history.steps.empty() && history.steps.back().complete;
  };
  int attempts = 1;
  for (; !whole() && attempts < 20; ++attempts) {
    recorder.session.resume();
    REQUIRE(recorder.reaches(SessionState::running));
  }
  CHECK(attempts < 20);
  const auto tape = recorder.session.tape();
  const NodeInfo* const mul = find_node(*tape, "mul");
  REQUIRE(mul);
  CHECK(inspected(recorder.session, {-1, mul->id}).available);
}

TEST_CASE("a pause inside a long step is prompt; one step from there ends it") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.run(R"(
local lg = require "lunagrad"
local w = lg.ones(3):requires_grad_()
for step in lg.run.steps() do
  local early = w * 2
  print("amid " .. step)
  local till = os.clock() + 0.12  -- seconds of the processor, which may have other work, too
  while os.clock() < till do end
  local late = (early * 3)
  late:sum():backward()
end
)");
  REQUIRE(recorder.printed("amid 1"));
  recorder.session.pause();
  const double start = process_seconds();
  REQUIRE(recorder.reaches(SessionState::paused));
  CHECK(process_seconds() - start < kStopSeconds);
  recorder.session.step();
  REQUIRE(recorder.pauses_again());
  const auto tape = recorder.session.tape();
  REQUIRE(tape);
  CHECK(tape->step == 1);
  CHECK(recorder.session.history().steps.back().complete);
  CHECK(inspected(recorder.session, {1, tape->nodes[1].id}).cells == std::vector<double>{6, 6, 6});
  for (const NodeInfo& node : tape->nodes) CHECK(inspected(recorder.session, {1, node.id}).available);
}

TEST_CASE("a value that was written in place after its capture says so") {
  Recorder recorder;
  pause_and_step(recorder, R"(
local lg = require "lunagrad"
local w = lg.ones(3):requires_grad_()
local buffer = lg.zeros(3)
for step in lg.run.steps() do
  buffer:fill_(step)
  local y = w + buffer
  y:sum():backward()
  buffer:fill_(0)
  print("step " .. step)
end
)",
                 1);
  const auto tape = recorder.session.tape();
  const NodeInfo* const add = find_node(*tape, "add");
  REQUIRE(add);
  const SliceView view = inspected(recorder.session, {tape->step, add->id, true, 1});
  CHECK(view.available);
  CHECK(view.note.find("written to since, by copy_ at test:9") == 0);
  CHECK(inspected(recorder.session, {tape->step, add->id}).note.empty());
}

TEST_CASE("the values of one step are captured on demand, while the script runs") {
  Recorder recorder;
  watch(recorder, kHistoryScript);
  for (const KeptStep& kept : recorder.session.history().steps) CHECK_FALSE(kept.values);
  recorder.session.capture_values();
  const auto captured = [&] {
    int64_t found = 0;
    for (const KeptStep& kept : recorder.session.history().steps)
      if (kept.values) found = kept.step;
    return found;
  };
  REQUIRE(eventually([&] { return captured() > 0; }));
  const int64_t step = captured();
  const NodeInfo* const leaf = find_node(*recorder.session.tape(step), "leaf");
  CHECK(inspected(recorder.session, {step, leaf->id}).cells[0] == double(step));
}

TEST_CASE("of steps that another pass makes too large for the budget the oldest go, and no other") {
  Recorder recorder;
  pause_and_step(recorder, R"(
local lg = require "lunagrad"
local w = lg.ones(3):requires_grad_()
for step in lg.run.steps() do
  local long = w
  for i = 1, 200 do long = long * 1.01 end
  long:sum():backward()
  local short = (w * 2):sum()
  short:backward()
  print("step " .. step)
end
)",
                 8);
  const auto tape = recorder.session.tape();
  REQUIRE(tape->passes.size() == 2);
  REQUIRE(tape->pass == 1);
  recorder.session.set_history_budget(kTapeShare << 20);
  REQUIRE(recorder.eval(""));
  const History before = recorder.session.history();
  REQUIRE(before.steps.size() >= 8);
  recorder.session.choose_pass(tape->passes[0].key);
  REQUIRE(recorder.eval(""));
  const History history = recorder.session.history();
  CHECK(history.steps.size() < before.steps.size());
  REQUIRE(history.steps.size() > 1);
  for (size_t i = 0; i < history.steps.size(); ++i)
    CHECK(history.steps.rbegin()[long(i)].step == before.steps.rbegin()[long(i)].step);
  CHECK(history.bytes <= history.budget);
}

TEST_CASE("copies that passes made which are no longer kept do not count") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  REQUIRE(recorder.finish(R"(
local lg = require "lunagrad"
for step in lg.run.steps(2) do
  for pass = 1, 300 do
    local w = lg.ones(8192, {requires_grad = true})
    local loss = (w * 2):sum()
    loss:backward()
  end
end
)") == Outcome::ok);
  const size_t copy = 8192 * 4;
  CHECK(recorder.session.history().bytes > 32 * copy);
  CHECK(recorder.session.history().bytes < 150 * copy);
}

TEST_CASE("the operands of a long forward pass are kept until its step ends") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  REQUIRE(recorder.finish(R"(
local lg = require "lunagrad"
local w = lg.ones(1, {requires_grad = true})
for step in lg.run.steps(1) do
  local y = w
  for i = 1, 21000 do y = y + lg.full({1}, i) end
  y:sum():backward()
end
)") == Outcome::ok);
  const auto tape = recorder.session.tape();
  REQUIRE(tape);
  REQUIRE(tape->nodes.size() == 21002);
  const SliceView first = inspected(recorder.session, {tape->step, tape->nodes[21000].id, true, 1});
  CHECK(first.available);
  CHECK(first.cells == std::vector<double>{1});
}

TEST_CASE("kept steps stay within their budget, the oldest go first") {
  Recorder recorder;
  recorder.session.set_history_budget(size_t(8) << 20);
  pause_and_step(recorder, R"(
local lg = require "lunagrad"
local w = lg.ones(1):requires_grad_()
for step in lg.run.steps() do
  local y = w * lg.full({1 << 18}, step)  -- 1 MiB, and as much again for its gradient
  y:sum():backward()
  print("step " .. step)
end
)",
                 12);
  const History history = recorder.session.history();
  CHECK(history.bytes <= history.budget);
  CHECK(history.budget == size_t(8) << 20);
  int values = 0;
  int64_t before = 0;
  for (const KeptStep& kept : history.steps) {
    CHECK(kept.step > before);
    before = kept.step;
    values += kept.values;
  }
  CHECK(values >= 1);
  CHECK(values <= 8);
  CHECK(history.steps.back().values);
  CHECK(inspected(recorder.session, {1, 1}).reason == "the step is no longer kept");
}

TEST_CASE("values that exceed the budget are computed when they are asked for") {
  Recorder recorder;
  recorder.session.set_history_budget(size_t(1) << 20);
  pause_and_step(recorder, R"(
local lg = require "lunagrad"
local w = lg.ones(1):requires_grad_()
for step in lg.run.steps() do
  local y = w * lg.ones{1 << 20}
  y:sum():backward()
  print("step " .. step)
end
)",
                 2);
  const auto tape = recorder.session.tape();
  const NodeInfo* const mul = find_node(*tape, "mul");
  REQUIRE(mul);
  const SliceView view = inspected(recorder.session, {-1, mul->id});
  CAPTURE(view.reason);
  CHECK(view.available);
  CHECK(view.statistics.mean == 1);
  CHECK(inspected(recorder.session, {-1, mul->id, false, 0, Which::gradient}).statistics.mean == 1);
  CHECK(recorder.session.history().bytes <= size_t(1) << 20);
  CHECK_FALSE(recorder.session.history().steps.back().complete);
}

TEST_CASE("a tensor is saved as a NumPy file and printed; failures are reported") {
  Recorder recorder;
  pause_and_step(recorder, kHistoryScript, 1);
  const auto tape = recorder.session.tape();
  const TensorPlace place{tape->step, find_node(*tape, "mul")->id};
  const test::Folder temporary;
  const std::string folder = temporary.path();
  const auto save = [&](const std::string& path) {
    return ask<std::string>([&](auto done) { recorder.session.save_tensor(place, path, done); });
  };
  CHECK(save(folder + "/y.npy").empty());
  const double k = double(tape->step);
  CHECK(load_npy(folder + "/y.npy").to_vector<double>() ==
        std::vector<double>{k * k, (k + 1) * k, (k + 2) * k});
  CHECK(save(folder + "/missing/y.npy").find("missing") != std::string::npos);
  std::promise<std::string> text;
  recorder.session.print_slice(place, {}, SliceFormat::csv,
                               [&](std::string printed, std::string) { text.set_value(std::move(printed)); });
  const std::string printed = text.get_future().get();
  CHECK(printed == std::to_string(tape->step * tape->step) + "," +
                       std::to_string((tape->step + 1) * tape->step) + "," +
                       std::to_string((tape->step + 2) * tape->step) + "\n");
}

TEST_CASE("a new run starts with an empty history") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  CHECK(recorder.finish(std::string("steps = 3 ") + kHistoryScript) == Outcome::ok);
  CHECK_FALSE(recorder.session.history().steps.empty());
  CHECK(recorder.finish("print('nothing')") == Outcome::ok);
  CHECK(recorder.session.history().steps.empty());
  CHECK(recorder.session.tape() == nullptr);
}
