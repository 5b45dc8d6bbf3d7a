// The claims of a sweep: of several workers only one takes a leg, only one ends it, and a worker that lost
// its claim changes nothing.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "script/run/folder.h"
#include "script/run/record.h"
#include "script/sweep/board.h"
#include "script/sweep/heartbeat.h"
#include "script/sweep/trial_folder.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::sweep;
namespace fs = std::filesystem;

namespace {

// A sweep of `trials` trials, with halving if eta is not 0.
std::string new_sweep(const test::Folder& folder, int64_t trials, int64_t eta = 0) {
  Plan plan;
  plan.script = folder.write("x.lua", "print(1)");
  plan.script_hash = hash_of_file(plan.script);
  plan.directory = folder.path();
  plan.axes.push_back(parse_random("lr=0..1"));
  plan.asha = eta > 0;
  if (plan.asha) plan.eta = eta;
  choose_trials(plan, trials);
  make_sweep(folder.path() + "/s", plan);
  return folder.path() + "/s";
}

Leg claim_of(const Leg& leg, const char* worker) { return {leg.trial, leg.leg, leg.attempt + 1, worker}; }

// Claims a leg that waits and ends it.
void end_leg(const std::string& sweep, const Leg& leg, Ending ending, double value) {
  const Leg claim = claim_of(leg, "a");
  REQUIRE(move_leg(sweep, kWaiting, Leg{leg.trial, leg.leg, 0, "new"}, kRunning, claim));
  Result result{.ending = ending, .value_step = 1, .steps = 1};
  if (ending != Ending::failed) result.value = value;
  write_result(sweep, claim, result);
  REQUIRE(move_leg(sweep, kRunning, claim, kDone, claim));
}

// The run of a claim after some steps, with a checkpoint.
void write_run(const std::string& folder, int rows, int checkpoint) {
  fs::create_directories(folder + "/checkpoints");
  std::ofstream metrics(folder + "/metrics.jsonl");
  for (int step = 1; step <= rows; ++step)
    metrics << "{\"step\":" << step << ",\"time\":0.1,\"metrics\":{\"loss\":" << step << "}}\n";
  char name[40];
  std::snprintf(name, sizeof name, "/checkpoints/step-%08d.safetensors", checkpoint);
  std::ofstream(folder + name) << "states";
}

}  // namespace

TEST_CASE("sweep: one of two workers claims a leg, and a claim that was taken over cannot be ended") {
  const test::Folder folder;
  const std::string sweep = new_sweep(folder, 2);
  const Leg leg = read_legs(sweep, 2, 1).waiting[0], a = claim_of(leg, "a"), b = claim_of(leg, "b");
  CHECK(move_leg(sweep, kWaiting, leg, kRunning, a));
  CHECK(!move_leg(sweep, kWaiting, leg, kRunning, b));
  // A request that is repeated since its answer was lost has succeeded.
  CHECK(move_leg(sweep, kWaiting, leg, kRunning, a));
  const Leg taken = claim_of(a, "b");
  CHECK(move_leg(sweep, kRunning, a, kRunning, taken));
  CHECK(!holds(sweep, a));
  CHECK(!move_leg(sweep, kRunning, a, kDone, a));
  CHECK(!move_leg(sweep, kRunning, a, kWaiting, a));
  CHECK(holds(sweep, taken));
  CHECK(move_leg(sweep, kRunning, taken, kDone, taken));
  const Legs legs = read_legs(sweep, 2, 1);
  CHECK(legs.done == std::vector{taken});
  CHECK(legs.running.empty());
  CHECK(legs.waiting.size() == 1);
  CHECK(legs.missing.empty());
}

TEST_CASE("sweep: many threads claim every leg once") {
  const test::Folder folder;
  constexpr int kTrials = 60, kWorkers = 6;
  const std::string sweep = new_sweep(folder, kTrials);
  std::vector<std::vector<int64_t>> won(kWorkers);
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w)
    workers.emplace_back([&, w] {
      const std::string name = "worker" + std::to_string(w);
      for (const Leg& leg : read_legs(sweep, kTrials, 1).waiting)
        if (move_leg(sweep, kWaiting, leg, kRunning, claim_of(leg, name.c_str())))
          won[size_t(w)].push_back(leg.trial);
    });
  for (std::thread& worker : workers) worker.join();
  std::set<int64_t> all;
  size_t count = 0;
  for (const auto& trials : won) {
    all.insert(trials.begin(), trials.end());
    count += trials.size();
  }
  CHECK(count == kTrials);
  CHECK(all.size() == kTrials);
}

TEST_CASE(
    "sweep: a takeover copies the run of the furthest checkpoint, and the former owner writes elsewhere") {
  const test::Folder folder;
  const std::string sweep = new_sweep(folder, 1);
  const Leg a{1, 0, 1, "a"}, b{1, 0, 2, "b"}, c{1, 0, 3, "c"};
  CHECK(!is_run(prepare_folder(sweep, a, Leg{1, 0, 0, "new"})));  // nothing to go on from
  write_run(sweep + "/trials/" + a.folder(), 12, 10);
  const std::string own = prepare_folder(sweep, b, std::nullopt);
  CHECK(own == sweep + "/trials/" + b.folder());
  CHECK(fs::path(latest_checkpoint(own)).filename() == "step-00000010.safetensors");
  CHECK(read_run(own).steps == 12);
  // The stalled process of the former claim still writes.
  write_run(sweep + "/trials/" + a.folder(), 30, 5);
  CHECK(read_run(own).steps == 12);
  // The next claim looks at all remaining folders: b's has the furthest checkpoint.
  const std::string next = prepare_folder(sweep, c, std::nullopt);
  CHECK(fs::path(latest_checkpoint(next)).filename() == "step-00000010.safetensors");
  CHECK(std::distance(fs::directory_iterator(sweep + "/trials"), fs::directory_iterator()) == 1);
  // A lower claim that wakes up removes nothing of a higher one.
  prepare_folder(sweep, b, std::nullopt);
  CHECK(is_run(next));
  settle_folder(sweep, c);
  CHECK(is_run(sweep + "/trials/00001"));
  CHECK(latest_checkpoint(sweep + "/trials/00001").empty());  // an automatic one
}

TEST_CASE("sweep: a claim that was given back hands its folder over") {
  const test::Folder folder;
  const std::string sweep = new_sweep(folder, 1);
  const Leg a{1, 0, 1, "a"}, b{1, 0, 2, "b"};
  write_run(sweep + "/trials/" + a.folder(), 12, 10);
  CHECK(read_run(prepare_folder(sweep, b, a)).steps == 12);
  CHECK(!fs::exists(sweep + "/trials/" + a.folder()));
  // Without a checkpoint the run begins again.
  const Leg c{1, 0, 3, "c"};
  fs::remove_all(sweep + "/trials/" + b.folder() + "/checkpoints");
  CHECK(!fs::exists(prepare_folder(sweep, c, b)));
}

TEST_CASE("sweep: a trial that its worker gave back shows the steps that it has") {
  const test::Folder folder;
  const std::string sweep = new_sweep(folder, 2, 2);
  const Leg claim{1, 0, 1, "a"};
  REQUIRE(move_leg(sweep, kWaiting, Leg{1, 0, 0, "new"}, kRunning, claim));
  write_run(sweep + "/trials/" + claim.folder(), 12, 10);
  REQUIRE(move_leg(sweep, kRunning, claim, kWaiting, claim));
  const std::vector<Trial> trials = Board(sweep).trials();
  CHECK(trials[0].state == State::waiting);
  CHECK(trials[0].steps == 12);
  CHECK(trials[0].value == 1);
  CHECK(trials[0].value_step == 1);
  CHECK(trials[0].folder == sweep + "/trials/" + claim.folder());
  CHECK(trials[1].state == State::waiting);
  CHECK(trials[1].steps == 0);
  CHECK(trials[1].folder == "");
}

TEST_CASE("sweep: a trial that was given back in its second leg waits, with its steps") {
  const test::Folder folder;
  const std::string sweep = new_sweep(folder, 2, 2);
  end_leg(sweep, {1, 0, 0, "new"}, Ending::rung, 1.0);
  end_leg(sweep, {2, 0, 0, "new"}, Ending::rung, 2.0);
  const Leg claim{1, 1, 2, "b"};
  REQUIRE(move_leg(sweep, kWaiting, Leg{1, 1, 0, "new"}, kRunning, claim));
  write_run(sweep + "/trials/" + claim.folder(), 30, 30);
  REQUIRE(move_leg(sweep, kRunning, claim, kWaiting, claim));
  const std::vector<Trial> trials = Board(sweep).trials();
  CHECK(trials[0].state == State::waiting);
  CHECK(trials[0].steps == 30);
  CHECK(trials[1].state == State::paused);
}

TEST_CASE("sweep: halving promotes the best of each rung, of equal ones the first") {
  const test::Folder folder;
  const std::string sweep = new_sweep(folder, 9, 3);
  Board board(sweep);
  REQUIRE(board.plan().legs == 3);
  CHECK(board.plan().last_step(0) == 100);
  CHECK(board.plan().last_step(1) == 300);
  CHECK(!board.plan().last_step(2));
  const auto trials_to_claim = [&] {
    board.refresh();
    std::vector<std::pair<int64_t, int>> list;
    for (const Leg& leg : board.claimable()) list.emplace_back(leg.trial, leg.leg);
    return list;
  };
  end_leg(sweep, {1, 0, 0, ""}, Ending::rung, 5);
  end_leg(sweep, {2, 0, 0, ""}, Ending::rung, 4);
  CHECK(trials_to_claim().front() == std::pair<int64_t, int>(3, 0));  // a third of two is none
  end_leg(sweep, {3, 0, 0, ""}, Ending::failed, 0);
  CHECK(trials_to_claim().front() == std::pair<int64_t, int>(2, 1));
  end_leg(sweep, {2, 1, 1, ""}, Ending::rung, 3);
  CHECK(trials_to_claim().front() == std::pair<int64_t, int>(4, 0));
  for (int64_t trial = 4; trial <= 9; ++trial) end_leg(sweep, {trial, 0, 0, ""}, Ending::rung, 4);
  // Three of nine: 2, which was promoted, and of those with the value 4 the first two.
  CHECK(trials_to_claim() == std::vector<std::pair<int64_t, int>>{{4, 1}, {5, 1}});
  CHECK(!board.over());
  end_leg(sweep, {4, 1, 1, ""}, Ending::rung, 2);
  end_leg(sweep, {5, 1, 1, ""}, Ending::rung, 2);
  CHECK(trials_to_claim() == std::vector<std::pair<int64_t, int>>{{4, 2}});
  end_leg(sweep, {4, 2, 2, ""}, Ending::finished, 1);
  CHECK(trials_to_claim().empty());
  CHECK(board.over());
  const std::vector<Trial> trials = board.trials();
  CHECK(trials[0].state == State::stopped);
  CHECK(trials[2].state == State::failed);
  CHECK(trials[3].state == State::finished);
  CHECK(best_of(board.plan(), trials)->number == 4);
}

TEST_CASE("sweep: a heartbeat of another machine counts while it changes, by the observer's clock") {
  const test::Folder folder;
  const std::string sweep = new_sweep(folder, 1);
  Watcher watcher(sweep, 60);
  const Watcher::Clock::time_point began = Watcher::Clock::now();
  const auto look = [&](int seconds) { return watcher.look("far", began + std::chrono::seconds(seconds)); };
  const auto beat = [&](int count) {
    std::ofstream(sweep + "/workers/far") << count << " another-machine 1 1 far\n";
  };
  beat(1);
  CHECK(look(0) == Watcher::Liveness::unknown);
  beat(2);
  CHECK(look(1) == Watcher::Liveness::alive);
  CHECK(look(60) == Watcher::Liveness::alive);
  CHECK(look(61) == Watcher::Liveness::dead);
  beat(3);
  CHECK(look(62) == Watcher::Liveness::alive);
  // A process of this machine is looked up: this one is alive, one that has ended is not.
  const Heartbeat own(sweep, 60);
  CHECK(watcher.look(own.worker()) == Watcher::Liveness::alive);
  std::string content = test::read_file(sweep + "/workers/" + own.worker());
  const std::string pid = " " + std::to_string(getpid()) + " ";
  content.replace(content.find(pid), pid.size(), " 999999999 ");
  std::ofstream(sweep + "/workers/ended") << content;
  CHECK(watcher.look("ended") == Watcher::Liveness::dead);
}
