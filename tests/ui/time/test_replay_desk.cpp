// Replays of any step of a run beside it: what one costs, what it shows, and how it ends.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/files.h"
#include "tests/support/timing.h"
#include "ui/time/replay_desk.h"

using namespace lunagrad;

namespace {

constexpr const char* kScript = R"(
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
struct Ran {
  tests::Folder folder;
  ReplayDesk desk{[] {}};
  ReplayDesk::RunNow run;

  explicit Ran(const std::string& script = kScript) {
    const std::string file = folder.with("train.lua", script);
    desk.set_budget(size_t(1) << 24);
    run.folder = folder.file("run");
    run.steps = 60;
    RunOptions options;
    options.run_directory = run.folder;
    options.keyframe_sink = desk.begin_run();
    Session session([](const Event&) {});
    session.run_file(file, options);
    REQUIRE(session.wait() == Outcome::ok);
  }

  // Waits for the end of the replay.
  const ReplayDesk::Stand* arrive(int64_t step) {
    desk.go_to(step, run);
    CHECK(tests::eventually([&] { return desk.update() && !desk.progress(); }));
    return desk.stand();
  }
};

}  // namespace

TEST_CASE("a desk shows tape, statistics and values of any step, and goes on from where it stands") {
  Ran ran;
  REQUIRE(ran.desk.keyframes());
  CHECK(ran.desk.cost(1, ran.run).steps == 1);
  CHECK(ran.desk.cost(1, ran.run).from == 0);
  CHECK(ran.desk.cost(40, ran.run).seconds == 0);  // nothing was measured yet

  const ReplayDesk::Stand* stand = ran.arrive(40);
  REQUIRE_MESSAGE(stand, ran.desk.problem());
  CHECK(stand->step == 40);
  REQUIRE(stand->tape);
  CHECK(stand->tape->step == 40);
  REQUIRE(stand->statistics);
  CHECK(stand->statistics->step == 40);
  CHECK(!stand->difference);
  CHECK(ran.desk.session().state() == SessionState::paused);
  const uint64_t number = stand->number;

  const ReplayDesk::Cost next = ran.desk.cost(41, ran.run);
  CHECK(next.goes_on);
  CHECK(next.steps == 1);
  CHECK(next.seconds > 0);
  stand = ran.arrive(41);
  REQUIRE(stand);
  CHECK(stand->tape->step == 41);
  CHECK(stand->number != number);
  CHECK(!ran.desk.cost(20, ran.run).goes_on);  // it cannot go back
  stand = ran.arrive(20);
  REQUIRE(stand);
  CHECK(stand->tape->step == 20);

  // A reload invalidates what was read of the run.
  ++ran.run.reloads;
  CHECK(!ran.desk.cost(21, ran.run).goes_on);
  ran.desk.close();
  CHECK(!ran.desk.stand());
}

TEST_CASE("a cancelled replay leaves nothing, and the next one arrives") {
  Ran ran;
  ran.desk.go_to(59, ran.run);
  CHECK(ran.desk.progress());
  ran.desk.cancel();
  CHECK(!ran.desk.progress());
  CHECK(ran.desk.update());
  CHECK(!ran.desk.stand());
  CHECK(ran.desk.problem().empty());
  // A new request ends the one before.
  ran.desk.go_to(58, ran.run);
  const ReplayDesk::Stand* const stand = ran.arrive(30);
  REQUIRE(stand);
  CHECK(stand->step == 30);
}

TEST_CASE("a step that cannot be repeated is a problem in words") {
  Ran ran;
  CHECK(!ran.arrive(61));
  CHECK(ran.desk.problem().find("has the steps 1 to 60") != std::string::npos);
  ran.desk.dismiss_problem();
  CHECK(ran.desk.problem().empty());

  ReplayDesk::RunNow nowhere = ran.run;
  nowhere.folder.clear();
  ran.desk.go_to(5, nowhere);
  CHECK(ran.desk.update());
  CHECK(ran.desk.problem().find("no folder") != std::string::npos);
}

TEST_CASE("what a script does not repeat is named with its step") {
  std::string script = kScript;
  const std::string log = "lg.run.log {loss = loss}";
  script.replace(script.find(log), log.size(), "lg.run.log {loss = loss, clock = os.clock()}");
  Ran ran(script);
  const ReplayDesk::Stand* const stand = ran.arrive(30);
  REQUIRE_MESSAGE(stand, ran.desk.problem());
  REQUIRE(stand->difference);
  CHECK(stand->difference->what.find("clock") != std::string::npos);
}

TEST_CASE("a desk stops a replay at the time limit of the run, says so, and repeats other steps after it") {
  tests::Folder place;
  const std::string slow = place.file("slow");
  std::string script = kScript;
  script.insert(script.find("  model:zero_grad"),
                "  if step == 30 and io.open('" + slow + "') then while true do end end\n");
  Ran ran(script);
  place.with("slow", "");
  ran.desk.set_budget(0);  // no keyframe: each replay begins with step 1
  ran.run.limits.timeout = 0.2;
  CHECK(!ran.arrive(40));
  CHECK(ran.desk.problem().find("time limit reached: the replay was stopped after 0.2 s") == 0);
  ran.run.limits.timeout = 600;
  const ReplayDesk::Stand* stand = ran.arrive(20);
  REQUIRE_MESSAGE(stand, ran.desk.problem());
  CHECK(stand->step == 20);
}
