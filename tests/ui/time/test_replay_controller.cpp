// Replays of any step of a run beside it: what one costs, what it shows, and how it ends.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/files.h"
#include "tests/support/timing.h"
#include "ui/time/replay_controller.h"

using namespace lunagrad;

namespace {

constexpr const char* kReplayScript = R"(
local lg = require "lunagrad"
lg.manual_seed(3)
local model = lg.run.state("model", function() return lg.nn.Linear(4, 2) end)
for step in lg.run.steps(60) do
  model:zero_grad()
  local loss = (model(lg.rand(8, 4)) ^ 2):mean()
  loss:backward()
  lg.no_grad(function() model.weight:sub_(model.weight.grad * 0.1) end)
  lg.run.log {loss = loss}
end
)";

// A run of 60 steps whose keyframes a controller holds.
struct ReplayedRun {
  tests::Folder folder;
  ReplayController controller{[] {}};
  ReplayController::RunNow run;

  explicit ReplayedRun(const std::string& script = kReplayScript) {
    const std::string file = folder.with("train.lua", script);
    controller.set_budget(size_t(1) << 24);
    run.folder = folder.file("run");
    run.steps = 60;
    RunOptions options;
    options.run_directory = run.folder;
    options.keyframe_sink = controller.begin_run();
    Session session([](const Event&) {});
    session.run_file(file, options);
    REQUIRE(session.wait() == Outcome::ok);
  }

  // Waits for the end of the replay.
  const ReplayController::Position* arrive(int64_t step) {
    controller.go_to(step, run);
    CHECK(tests::eventually([&] { return controller.update() && !controller.progress(); }));
    return controller.position();
  }
};

}  // namespace

TEST_CASE("a controller shows tape, statistics and values of any step, and goes on from where it stands") {
  ReplayedRun ran;
  REQUIRE(ran.controller.keyframes());
  CHECK(ran.controller.cost(1, ran.run).steps == 1);
  CHECK(ran.controller.cost(1, ran.run).from == 0);
  CHECK(ran.controller.cost(40, ran.run).seconds == 0);  // nothing was measured yet

  const ReplayController::Position* position = ran.arrive(40);
  REQUIRE_MESSAGE(position, ran.controller.problem());
  CHECK(position->step == 40);
  REQUIRE(position->tape);
  CHECK(position->tape->step == 40);
  REQUIRE(position->statistics);
  CHECK(position->statistics->step == 40);
  CHECK(!position->difference);
  CHECK(ran.controller.session().state() == SessionState::paused);
  const uint64_t number = position->number;

  const ReplayController::Cost next = ran.controller.cost(41, ran.run);
  CHECK(next.goes_on);
  CHECK(next.steps == 1);
  CHECK(next.seconds > 0);
  position = ran.arrive(41);
  REQUIRE(position);
  CHECK(position->tape->step == 41);
  CHECK(position->number != number);
  CHECK(!ran.controller.cost(20, ran.run).goes_on);  // it cannot go back
  position = ran.arrive(20);
  REQUIRE(position);
  CHECK(position->tape->step == 20);

  // A reload invalidates what was read of the run.
  ++ran.run.reloads;
  CHECK(!ran.controller.cost(21, ran.run).goes_on);
  ran.controller.close();
  CHECK(!ran.controller.position());
}

TEST_CASE("a cancelled replay leaves nothing, and the next one arrives") {
  ReplayedRun ran;
  ran.controller.go_to(59, ran.run);
  CHECK(ran.controller.progress());
  ran.controller.cancel();
  CHECK(!ran.controller.progress());
  CHECK(ran.controller.update());
  CHECK(!ran.controller.position());
  CHECK(ran.controller.problem().empty());
  // A new request ends the one before.
  ran.controller.go_to(58, ran.run);
  const ReplayController::Position* const position = ran.arrive(30);
  REQUIRE(position);
  CHECK(position->step == 30);
}

TEST_CASE("a step that cannot be repeated is a problem in words") {
  ReplayedRun ran;
  CHECK(!ran.arrive(61));
  CHECK(ran.controller.problem().find("has the steps 1 to 60") != std::string::npos);
  ran.controller.dismiss_problem();
  CHECK(ran.controller.problem().empty());

  ReplayController::RunNow nowhere = ran.run;
  nowhere.folder.clear();
  ran.controller.go_to(5, nowhere);
  CHECK(ran.controller.update());
  CHECK(ran.controller.problem().find("no folder") != std::string::npos);
}

TEST_CASE("what a script does not repeat is named with its step") {
  std::string script = kReplayScript;
  const std::string log = "lg.run.log {loss = loss}";
  script.replace(script.find(log), log.size(), "lg.run.log {loss = loss, clock = os.clock()}");
  ReplayedRun ran(script);
  const ReplayController::Position* const position = ran.arrive(30);
  REQUIRE_MESSAGE(position, ran.controller.problem());
  REQUIRE(position->difference);
  CHECK(position->difference->what.find("clock") != std::string::npos);
}

TEST_CASE(
    "a controller stops a replay at the time limit of the run, says so, and repeats other steps after it") {
  tests::Folder place;
  const std::string slow = place.file("slow");
  std::string script = kReplayScript;
  script.insert(script.find("  model:zero_grad"),
                "  if step == 30 and io.open('" + slow + "') then while true do end end\n");
  ReplayedRun ran(script);
  place.with("slow", "");
  ran.controller.set_budget(0);  // no keyframe: each replay begins with step 1
  ran.run.limits.timeout = 0.2;
  CHECK(!ran.arrive(40));
  CHECK(ran.controller.problem().find("time limit reached: the replay was stopped after 0.2 s") == 0);
  ran.run.limits.timeout = 600;
  const ReplayController::Position* position = ran.arrive(20);
  REQUIRE_MESSAGE(position, ran.controller.problem());
  CHECK(position->step == 20);
}
