// Forks that a window prepares: their states, the options of the new run, and what goes wrong.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/support/files.h"
#include "tests/support/timing.h"
#include "ui/time/fork_controller.h"

using namespace lunagrad;
namespace fs = std::filesystem;

namespace {

constexpr const char* kForkScript = R"(
local lg = require "lunagrad"
local lr = lg.run.live("lr", 0.1)
local model = lg.run.state("model", function() return lg.nn.Linear(4, 2) end)
for step in lg.run.steps(40) do
  model:zero_grad()
  local loss = (model(lg.rand(8, 4)) ^ 2):mean()
  loss:backward()
  lg.no_grad(function() model.weight:sub_(model.weight.grad * lr()) end)
  lg.run.log {loss = loss}
end
)";

struct ForkedRun {
  tests::Folder folder;
  std::string run = folder.file("run");
  ForkController controller{[] {}};
  const fs::path before = fs::current_path();

  explicit ForkedRun(const std::string& script = kForkScript) {
    fs::current_path(folder.file(""));  // runs/ is there
    RunOptions options;
    options.run_directory = run;
    Session session([](const Event&) {});
    session.run_file(folder.with("train.lua", script), options);
    REQUIRE(session.wait() == Outcome::ok);
  }
  ~ForkedRun() { fs::current_path(before); }

  std::optional<ForkController::Made> make(ForkController::Wanted wanted) {
    controller.make(std::move(wanted));
    std::optional<ForkController::Made> made;
    CHECK(tests::eventually([&] {
      made = controller.update();
      return made || !controller.progress();
    }));
    return made;
  }
};

std::vector<double> losses(const std::string& folder, int64_t behind) {
  std::vector<double> values;
  const RunRecord run = read_run(folder);
  for (const MetricPoint& point : run.metrics.at("loss"))
    if (point.step > behind) values.push_back(point.value);
  return values;
}

}  // namespace

TEST_CASE("a fork without a change equals its parent bit for bit, one with a change does not") {
  ForkedRun ran;
  for (const bool changed : {false, true}) {
    ForkController::Wanted wanted{ran.run, 40, nullptr, "", "", {.step = 25}};
    if (changed) wanted.changes.set["lr"] = "0.5";
    const std::optional<ForkController::Made> made = ran.make(wanted);
    REQUIRE_MESSAGE(made, ran.controller.problem());
    CHECK(made->options.parent == ran.run);
    CHECK(made->options.parent_step == 25);
    Session session([](const Event&) {});
    session.run_file(made->script, made->options);
    REQUIRE(session.wait() == Outcome::ok);
    const RunRecord fork = read_run(made->options.run_directory);
    CHECK(fork.parent == ran.run);
    CHECK(fork.parent_step == 25);
    if (changed)
      CHECK(losses(fork.folder, 0) != losses(ran.run, 25));
    else
      CHECK(losses(fork.folder, 0) == losses(ran.run, 25));
  }
}

TEST_CASE("what a run offers for a fork, with the values of its parameters at a step") {
  ForkedRun ran;
  ran.controller.look_at(ran.run);
  REQUIRE(tests::eventually([&] {
    ran.controller.update();
    return ran.controller.offer() != nullptr;
  }));
  CHECK(ran.controller.offer()->steps == 40);
  RunRecord run = *ran.controller.offer();
  run.changes.push_back({10, "lr", "0.01"});
  CHECK(params_at(run, 9).at("lr") == "0.1");
  CHECK(params_at(run, 10).at("lr") == "0.01");
  ran.controller.look_at(ran.folder.file("nothing"));
  CHECK(tests::eventually([&] {
    ran.controller.update();
    return !ran.controller.problem().empty();
  }));
  CHECK(!ran.controller.offer());
}

TEST_CASE("a fork that is not possible is a problem in words and leaves no folder") {
  SUBCASE("no such step") {
    ForkedRun ran;
    CHECK(!ran.make({ran.run, 40, nullptr, "", "", {.step = 41}}));
    CHECK(ran.controller.problem().find("has the steps 1 to 40") != std::string::npos);
    CHECK(!fs::exists(ran.folder.file("runs")));
  }
  SUBCASE("no states") {
    std::string script = kForkScript;
    const std::string state = "lg.run.state(\"model\", function() return lg.nn.Linear(4, 2) end)";
    script.replace(script.find(state), state.size(), "lg.nn.Linear(4, 2)");
    ForkedRun ran(script);
    CHECK(!ran.make({ran.run, 40, nullptr, "", "", {.step = 20}}));
    CHECK(ran.controller.problem().find("registers nothing with lg.run.state") != std::string::npos);
    CHECK(!fs::exists(ran.folder.file("runs")));
  }
  SUBCASE("cancelled") {
    ForkedRun ran;
    ran.controller.make({ran.run, 40, nullptr, "", "", {.step = 39}});
    ran.controller.cancel();
    CHECK(!ran.controller.progress());
    CHECK(!ran.controller.update());
    CHECK(ran.controller.problem().empty());
  }
}
