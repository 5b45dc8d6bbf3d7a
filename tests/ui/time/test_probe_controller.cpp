// Probes of a running script: their values in steps that have passed, what goes wrong, and what stays.
#include <doctest/doctest.h>

#include <string>

#include "runtime/core/error.h"
#include "tests/support/files.h"
#include "tests/support/timing.h"
#include "ui/time/probe_controller.h"

using namespace lunagrad;

namespace {

constexpr const char* kProbeScript = R"(
local lg = require "lunagrad"
lg.manual_seed(3)
local model = lg.run.state("model", function() return lg.nn.Linear(4, 2) end)
for step in lg.run.steps(60) do
  if step == 20 then lg.run.breakpoint() end
  model:zero_grad()
  local loss = (model(lg.rand(8, 4)) ^ 2):mean()
  loss:backward()
  lg.no_grad(function() model.weight:sub_(model.weight.grad * 0.1) end)
  lg.run.log {norm = model.weight.grad:norm(), loss = loss}
end
)";

// A window's session with its probes; the run pauses within step 20.
struct Window {
  tests::Folder folder;
  Journal journal;
  Actions actions;
  ReplayController replay{[] {}};
  Session session{[this](const Event& event) { journal.push(event); }};
  ProbeController probes{session,
                         journal,
                         actions,
                         replay,
                         [this] {
                           return ReplayController::RunNow{journal.run_folder(), 1, journal.step(),
                                                           size_t(journal.reloads()), 0};
                         },
                         [] {}};
  std::string told;
  bool folders = true;

  Window() {
    actions.on_error = [this](const std::string& text) { told = text; };
  }

  void run() {
    RunOptions options;
    options.interactive = true;
    options.write_run = folders;
    options.run_directory = folder.file("run" + std::to_string(journal.runs()));
    options.keyframe_sink = replay.begin_run();
    journal.restart();
    session.run_file(folder.with("train.lua", kProbeScript), options);
  }

  bool until(const std::function<bool()>& done) {
    return tests::eventually([&] {
      journal.update();
      probes.update();
      return done();
    });
  }
  bool paused() {
    return until([&] { return journal.state() == SessionState::paused; });
  }
  bool ended() {
    return until([&] { return journal.ended(); });
  }
  std::string state(size_t i = 0) { return probes.state_of(probes.items()[i]); }
  bool reaches(const std::string& wanted, size_t i = 0) {
    const bool there = until([&] { return state(i) == wanted; });
    CHECK_MESSAGE(there, state(i));
    return there;
  }

  // The curve of the probe equals the logged metric's.
  void check_equal(const std::string& probe, const std::string& logged) {
    const Metric& mine = journal.curves().probe(probe, 0.9);
    const Metric& theirs = journal.curves().metric(logged, 0.9);
    REQUIRE(mine.raw.size() == theirs.raw.size());
    for (size_t i = 0; i < mine.raw.size(); ++i) {
      CHECK(mine.raw.x(i) == theirs.raw.x(i));
      CHECK(mine.raw.y(i) == theirs.raw.y(i));
      CHECK(mine.smooth.y(i) == theirs.smooth.y(i));
    }
  }
};

}  // namespace

TEST_CASE("a probe of a run that is under way equals what was logged from the start, at ends and at lines") {
  Window window;
  window.run();
  REQUIRE(window.paused());
  CHECK(window.probes.add({0, "", "norm of model.weight.grad", {}}) == "");
  CHECK(window.probes.add({0, "at the log", "loss", {"train.lua", 11}}) == "");
  CHECK(window.reaches("from the next step on, steps 1 to 19 repeated"));
  CHECK(window.reaches("from the next step on, steps 1 to 19 repeated", 1));
  window.session.resume();
  REQUIRE(window.ended());
  CHECK(window.reaches("steps 1 to 60"));
  CHECK(window.reaches("steps 1 to 60", 1));
  window.check_equal("norm of model.weight.grad", "norm");
  REQUIRE(window.journal.curves().probe("at the log", 0.9).raw.size() == 60);
  for (size_t i = 0; i < 60; ++i)
    CHECK(window.journal.curves().probe("at the log", 0.9).raw.y(i) ==
          window.journal.curves().metric("loss", 0.9).raw.y(i));

  // Another run has them from its first step on.
  window.run();
  REQUIRE(window.paused());
  CHECK(window.reaches("live"));
  window.session.resume();
  REQUIRE(window.ended());
  CHECK(window.reaches("steps 1 to 60"));
  window.check_equal("norm of model.weight.grad", "norm");
}

TEST_CASE("an ended run is repeated, and a run without a folder is not") {
  Window window;
  SUBCASE("with a folder") {
    window.run();
    REQUIRE(window.paused());
    window.session.resume();
    REQUIRE(window.ended());
    CHECK(window.probes.add({0, "late", "model.weight.grad:norm()", {}}) == "");
    CHECK(window.reaches("steps 1 to 60 repeated"));
    window.check_equal("late", "norm");
  }
  SUBCASE("without one") {
    window.folders = false;
    window.run();
    REQUIRE(window.paused());
    CHECK(window.probes.add({0, "late", "model.weight.grad:norm()", {}}) == "");
    CHECK(window.until([&] { return !window.probes.items()[0].problem.empty(); }));
    CHECK(window.probes.items()[0].problem.find("no folder") != std::string::npos);
    window.session.resume();
    REQUIRE(window.ended());
    CHECK(window.state() == "steps 21 to 60, without steps 1 to 20");
  }
}

TEST_CASE("a probe that fails says so, the run goes on, and another run tries it again") {
  Window window;
  window.run();
  REQUIRE(window.paused());
  CHECK(window.probes.add({0, "writes", "model.weight:zero_()", {}}) == "");
  CHECK(window.probes.add({0, "nothing", "model.wait:norm()", {}}) == "");
  window.session.resume();
  REQUIRE(window.ended());
  CHECK(window.journal.outcome() == Outcome::ok);
  REQUIRE(window.until([&] {
    return !window.probes.items()[0].problem.empty() && !window.probes.items()[1].problem.empty();
  }));
  CHECK(window.probes.items()[0].problem.starts_with("step "));
  CHECK(window.session.probes().empty());  // a failed one is not evaluated again
  window.run();
  REQUIRE(window.paused());
  CHECK(window.until([&] { return window.probes.items()[1].problem.starts_with("step 1: "); }));
}

TEST_CASE("what is refused, what is removed, and a replay that is cancelled") {
  Window window;
  window.run();
  REQUIRE(window.paused());
  CHECK(window.probes.add({0, "", "model.", {}}).find("<name> expected") != std::string::npos);
  CHECK(window.probes.add({0, "", " ", {}}) == "there is no expression");
  CHECK(window.probes.add({0, "", "1", {"train.lua", 0}}).find("the line must be 1 or more") == 0);
  CHECK(window.probes.add({0, "one", "1", {}}) == "");
  CHECK(window.probes.add({0, "one", "2", {}}).find("there is a probe \"one\" already") == 0);
  window.probes.remove("two");
  CHECK(window.told.find("there is no probe \"two\"; there are one") != std::string::npos);

  window.journal.update();
  window.probes.update();
  REQUIRE(window.probes.progress());
  window.probes.cancel();
  CHECK(!window.probes.progress());
  CHECK(window.state() == "from the next step on, without steps 1 to 19");
  window.probes.fill("one");
  CHECK(window.reaches("from the next step on, steps 1 to 19 repeated"));
  window.probes.remove("one");
  CHECK(window.probes.items().empty());
  CHECK(window.session.probes().empty());
}
