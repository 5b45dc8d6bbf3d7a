// A past step shows the text that it ran, in each panel and in the editor, and the text that is being edited
// waits unchanged.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/files.h"
#include "tests/support/timing.h"
#include "tests/ui/null_host.h"
#include "ui/workbench/workbench.h"

using namespace lunagrad;

namespace {

// A training whose op between the layer and the sum is `op`.
std::string training(const std::string& op) {
  return R"(local lg = require "lunagrad"
local model = lg.run.state("model", function() return lg.nn.Linear(4, 2) end)
for _ in lg.run.steps() do
  model:zero_grad()
  local y = model(lg.ones(8, 4)):)" +
         op + R"(()
  y:sum():backward()
end
)";
}

// A workbench that runs a file, one step after the other.
struct Stepped {
  const tests::NullHost host;
  const PanelHost fonts{{.font = host.font()}};
  tests::Folder folder;
  const std::string script = folder.with("train.lua", training("relu"));
  Workbench bench;

  // `given`: what the run is given in place of the file's text.
  explicit Stepped(std::optional<std::string> given = {})
      : bench(script, {.write_run = false, .source = std::move(given), .interactive = true}, [] {}) {
    bench.texts().show(script);
  }
  ~Stepped() {
    bench.control().stop();
    bench.control().stop();
  }

  Document& document() { return *bench.texts().documents().active(); }

  bool until(const std::function<bool()>& holds) {
    const double begun = tests::seconds_of(CLOCK_MONOTONIC);
    while (tests::seconds_of(CLOCK_MONOTONIC) - begun < tests::kHangSeconds) {
      bench.update();
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  // To the end of the next step.
  bool step() {
    const uint64_t pauses = bench.journal().pauses();
    bench.control().step();
    return until(
        [&] { return bench.journal().pauses() > pauses && bench.journal().state() == SessionState::paused; });
  }
  const NodeInfo* node(const std::string& op) {
    const TapeSnapshot* const tape = bench.tape().tape();
    if (!tape) return nullptr;
    const auto at = std::find_if(tape->nodes.begin(), tape->nodes.end(),
                                 [&](const NodeInfo& node) { return node.op == op; });
    return at == tape->nodes.end() ? nullptr : &*at;
  }
  // Steps until the tape has this op.
  bool step_to(const std::string& op) {
    for (int i = 0; i < 10; ++i) {
      if (!step()) return false;
      if (until([&] { return bench.tape().tape() && bench.shown().step() == bench.shown().latest(); }) &&
          node(op))
        return true;
    }
    return false;
  }
  bool show(int64_t step) {
    bench.shown().go_to(step);
    return until([&] { return bench.shown().cursor() == step && bench.shown().step() == step; });
  }
};

}  // namespace

TEST_CASE("a step before a reload shows its own text, and the edited text comes back as it was") {
  Stepped run;
  Workbench& bench = run.bench;
  REQUIRE(run.step_to("relu"));
  REQUIRE(run.step());
  const int64_t before = bench.shown().latest();
  Document& document = run.document();
  CHECK_FALSE(bench.step_texts().in_place_of(document));

  document.buffer.reload(training("gelu"));
  bench.texts().save(document);
  REQUIRE(run.until([&] { return !document.modified(); }));
  REQUIRE(run.step_to("gelu"));
  const int64_t after = bench.shown().latest();
  REQUIRE(run.step());
  REQUIRE(run.step());

  // A step with the text of now: the document is shown and can be edited, also while it is shown.
  REQUIRE(run.show(after));
  CHECK_FALSE(bench.step_texts().in_place_of(document));
  document.buffer.set_caret(document.buffer.end());
  document.buffer.type("-- mine");
  CHECK_FALSE(bench.step_texts().in_place_of(document));
  CHECK_FALSE(bench.step_texts().refuses_change(document));
  const std::string edited = document.buffer.content();
  const uint64_t state = document.buffer.state();

  REQUIRE(run.show(before));
  const NodeInfo* const relu = run.node("relu");
  REQUIRE(relu);
  CHECK_FALSE(run.node("gelu"));
  CHECK(bench.step_texts().line_of_tape(relu->place) == "local y = model(lg.ones(8, 4)):relu()");
  const StepTexts::Past* past = bench.step_texts().in_place_of(document);
  REQUIRE(past);
  REQUIRE(past->text);
  CHECK(past->text->content() == training("relu"));
  CHECK(past->sentence.find("train.lua as of step " + std::to_string(before) +
                            ", before the reload at step ") == 0);
  CHECK(past->sentence.ends_with("Read only."));
  CHECK_FALSE(bench.step_texts().refused());
  CHECK(bench.step_texts().refuses_change(document));
  CHECK(bench.step_texts().refused());
  CHECK(bench.step_texts().line(relu->place, after) == "local y = model(lg.ones(8, 4)):gelu()");
  CHECK(bench.step_texts().at(document, after)->content() == training("gelu"));

  bench.shown().go_live();
  REQUIRE(run.until([&] { return run.node("gelu") && bench.shown().step() == bench.shown().latest(); }));
  CHECK_FALSE(bench.step_texts().in_place_of(document));
  CHECK_FALSE(bench.step_texts().refused());
  CHECK(bench.step_texts().line_of_tape(run.node("gelu")->place) == "local y = model(lg.ones(8, 4)):gelu()");
  CHECK(document.buffer.content() == edited);
  CHECK(document.buffer.state() == state);
  CHECK(document.buffer.undo());
  CHECK(document.buffer.content() == training("gelu"));
}

TEST_CASE("files that the run has not loaded have only the text on the disk") {
  Stepped run;
  REQUIRE(run.step_to("relu"));
  REQUIRE(run.step());
  REQUIRE(run.step());
  const std::string other = run.folder.with("other.lua", "  return 1\n");
  run.bench.texts().show(other);
  REQUIRE(run.show(run.bench.shown().latest() - 1));
  CHECK_FALSE(run.bench.step_texts().in_place_of(run.document()));
  CHECK_FALSE(run.bench.step_texts().at(run.document(), 1));
  CHECK(run.bench.step_texts().line({other, 1}, 1) == "return 1");
  CHECK(run.bench.step_texts().line({run.script, 999}, 1).empty());
}

TEST_CASE("a run that was given an older text shows it, until the user wants the file's text") {
  Stepped run(training("tanh"));
  Workbench& bench = run.bench;
  REQUIRE(run.step_to("tanh"));
  REQUIRE(run.step());
  const int64_t before = bench.shown().latest();
  Document& document = run.document();
  const StepTexts::Past* past = bench.step_texts().in_place_of(document);
  REQUIRE(past);
  REQUIRE(past->text);
  CHECK(past->live);
  CHECK(past->text->content() == training("tanh"));
  CHECK(past->sentence.find("train.lua as this fork runs it") == 0);
  CHECK(bench.step_texts().refuses_change(document));
  CHECK(bench.step_texts().line_of_tape(run.node("tanh")->place) == "local y = model(lg.ones(8, 4)):tanh()");
  CHECK(document.buffer.content() == training("relu"));

  bench.step_texts().show_present();
  CHECK_FALSE(bench.step_texts().in_place_of(document));
  CHECK_FALSE(bench.step_texts().refuses_change(document));

  // Saving reloads the run with the file's text; the steps before have theirs.
  document.buffer.reload(training("gelu"));
  bench.texts().save(document);
  REQUIRE(run.until([&] { return !document.modified(); }));
  REQUIRE(run.step_to("gelu"));
  REQUIRE(run.step());
  CHECK_FALSE(bench.step_texts().in_place_of(document));
  REQUIRE(run.show(before));
  past = bench.step_texts().in_place_of(document);
  REQUIRE(past);
  CHECK_FALSE(past->live);
  CHECK(past->text->content() == training("tanh"));
}
