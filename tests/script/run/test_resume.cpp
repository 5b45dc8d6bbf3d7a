// Checkpoints of a run, as a shell sees them: a continued run gives the results of an uninterrupted one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>
#include <thread>

#include "runtime/core/error.h"
#include "tests/support/program.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad::test;
using lunagrad::text;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// Everything that a step depends on: weights, an optimizer's state, dropout, random data, a parameter, a
// table.
const char* const kResumedTraining = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
lg.manual_seed(3)
local lr, save_at = lg.run.live("lr", 1e-2), lg.run.param("save_at", 0)
local width = lg.run.param("width", 16)
local model = lg.run.state("model", function()
  return nn.Sequential(nn.Linear(8, width), nn.BatchNorm1d(width), nn.Dropout(0.3), nn.Linear(width, 3))
end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.Adam(model:parameters(), {lr = lr}) end)
local seen = lg.run.state("seen", function() return {loss = 0.0, last = lg.zeros(3)} end)
for step in lg.run.steps(20) do
  local x, y = lg.randn(32, 8), lg.randint(0, 3, {32})
  optimizer:zero_grad()
  local out = model(x)
  local loss = F.cross_entropy(out, y)
  loss:backward()
  optimizer:step()
  seen.loss = seen.loss + loss:item()
  seen.last:copy_(out[1]:detach())
  lg.run.log{loss = loss}
  if step == save_at then lg.run.checkpoint() end
  if (...) == "slow" then lg.run.checkpoint() print("step " .. step) end
end
print(("%a"):format(seen.loss), seen.last:tolist()[1], lg.get_rng_state().stream)
for _, p in ipairs(model:parameters()) do print(("%a %a"):format(p:double():square():sum():item(), p:double():sum():item())) end
)";

std::vector<std::pair<int, double>> losses(const std::string& run) {
  std::vector<std::pair<int, double>> rows;
  std::istringstream in(read_file(run + "/metrics.jsonl"));
  for (std::string line; std::getline(in, line);) {
    const json row = json::parse(line);
    if (row.count("metrics")) rows.emplace_back(row["step"].get<int>(), row["metrics"]["loss"].get<double>());
  }
  return rows;
}

// The steps of the events of a folder as TensorBoard shows them: it reads the files in the order of their
// names, and a session start drops the events from its step on. `starts`: the steps of the session starts.
std::vector<int64_t> shown_steps(const std::string& folder, std::vector<int64_t>& starts) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) names.push_back(entry.path());
  std::sort(names.begin(), names.end());
  std::vector<int64_t> steps;
  for (const std::string& name : names) {
    const std::string data = read_file(name);
    for (size_t at = 0; at + 12 <= data.size();) {
      uint64_t length = 0;
      std::memcpy(&length, data.data() + at, 8);
      const std::string event = data.substr(at + 12, length);
      at += length + 16;
      // The time in nine bytes, then the step, which is left out when it is 0 and fits into a byte here.
      const int64_t step = event.size() > 10 && event[9] == '\x10' ? event[10] : 0;
      if (event.find("loss") != event.npos) steps.push_back(step);
      if (event.ends_with(std::string("\x3a\x02\x08\x01", 4))) {
        starts.push_back(step);
        std::erase_if(steps, [&](int64_t shown) { return shown >= step; });
      }
    }
  }
  return steps;
}

std::vector<std::string> checkpoints(const std::string& run) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(run + "/checkpoints", ignored))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("ten steps, a checkpoint and ten more equal twenty steps, bit by bit") {
  const Folder folder;
  folder.write("train.lua", kResumedTraining);
  const Finished whole = folder.run({"run", "train.lua", "--run-dir", "whole"});
  REQUIRE(whole.code == 0);
  REQUIRE(
      folder.run({"run", "train.lua", "--run-dir", "parts", "--steps", "10", "--set", "save_at=10"}).code ==
      0);
  CHECK(checkpoints(folder.path() + "/parts") == std::vector<std::string>{"step-00000010.safetensors"});
  const Finished rest = folder.run({"run", "train.lua", "--resume", "parts"});
  CHECK(rest.code == 0);
  CHECK(rest.out == whole.out);
  CHECK(rest.err.find("no step is left") == std::string::npos);
  const Finished again = folder.run({"run", "train.lua", "--resume", "parts", "--steps", "10"});
  CHECK(again.code == 0);
  CHECK(again.err.find("the run is at step 10 of 10 already: no step is left") != std::string::npos);
  CHECK(losses(folder.path() + "/parts") == losses(folder.path() + "/whole"));
  // One of its checkpoints by name, into a folder of its own.
  const Finished fork = folder.run(
      {"run", "train.lua", "--resume", "parts/checkpoints/step-00000010.safetensors", "--run-dir", "fork"});
  CHECK(fork.out == whole.out);
  CHECK(losses(folder.path() + "/fork").front().first == 11);
  const json config = json::parse(read_file(folder.path() + "/fork/config.json"));
  CHECK(config["resumed"]["step"] == 10);
  CHECK(config["params"]["save_at"] == 10);
}

TEST_CASE("Ctrl-C writes a checkpoint of the ended step, and the run resumes from it") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kResumedTraining);
  const Finished whole = folder.run({"run", "train.lua", "--run-dir", "whole", "--steps", "500"});
  Program program({kProgram, "run", script, "--run-dir", "part", "--steps", "500", "--", "slow"}, "", {},
                  folder.path());
  REQUIRE(program.wrote("step 3\n"));
  program.signal(SIGINT);
  const Finished stopped = program.finish();
  CHECK(stopped.code == 130);
  CHECK(stopped.err.find("checkpoint saved in part/checkpoints/step-") != std::string::npos);
  const Finished rest = folder.run({"run", "train.lua", "--resume", "part", "--steps", "500"});
  CHECK(rest.out == whole.out);
  CHECK(losses(folder.path() + "/part") == losses(folder.path() + "/whole"));
}

TEST_CASE("--stop-at ends the run at that step with a checkpoint, but not behind the last one") {
  const Folder folder;
  folder.write("train.lua", kResumedTraining);
  const Finished whole = folder.run({"run", "train.lua", "--run-dir", "whole", "--stop-at", "20"});
  CHECK(whole.code == 0);
  CHECK(folder.run({"run", "train.lua", "--run-dir", "part", "--stop-at", "7"}).code == 130);
  CHECK(losses(folder.path() + "/part").back().first == 7);
  CHECK(fs::exists(folder.path() + "/part/checkpoints/step-00000007.safetensors"));
  // stops immediately
  CHECK(folder.run({"run", "train.lua", "--resume", "part", "--stop-at", "7"}).code == 130);
  CHECK(folder.run({"run", "train.lua", "--resume", "part"}).out == whole.out);
  CHECK(losses(folder.path() + "/part") == losses(folder.path() + "/whole"));
}

TEST_CASE("each step is shown once when a run goes on from before its last step") {
  const Folder folder;
  folder.write("train.lua", kResumedTraining);
  std::vector<int64_t> all(9);
  std::iota(all.begin(), all.end(), 1);
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "train.lua", "--tensorboard"});
    REQUIRE(folder.run(arguments).code == 0);
  };
  // As if it were killed in step 7, after a checkpoint of step 4, and twice more within the same second.
  run({"--run-dir", "part", "--steps", "6", "--set", "save_at=4"});
  run({"--resume", "part", "--steps", "7", "--set", "save_at=5"});
  run({"--resume", "part", "--steps", "9", "--set", "save_at=20"});
  std::vector<int64_t> starts;
  CHECK(shown_steps(folder.path() + "/part", starts) == all);
  CHECK(starts == std::vector<int64_t>{5, 6});
  const Finished table = folder.run({"runs", "export", "part"});
  REQUIRE(table.code == 0);
  std::istringstream lines(table.out);
  std::vector<int64_t> exported;
  for (std::string line; std::getline(lines, line);)
    if (std::isdigit(static_cast<unsigned char>(line[0]))) exported.push_back(std::stoll(line));
  CHECK(exported == all);
}

namespace {

// Adds 1 at each step; prints the first one, and writes a checkpoint at every tenth.
const char* const kCounting = R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return {count = 0} end)
local first
for step in lg.run.steps(60) do
  if not first then print("first " .. step) end
  first, w.count = true, w.count + 1
  lg.run.log{count = w.count}
  if (...) ~= "slow" and step % 10 == 0 then lg.run.checkpoint() end
  local from = os.clock()
  while (...) == "slow" and os.clock() - from < 0.002 do end
end
)";

// The steps of the rows that `runs export` writes.
std::vector<int64_t> exported_steps(const Folder& folder, const std::string& run) {
  std::istringstream lines(folder.run({"runs", "export", run}).out);
  std::vector<int64_t> steps;
  for (std::string line; std::getline(lines, line);)
    if (std::isdigit(static_cast<unsigned char>(line[0]))) steps.push_back(std::stoll(line));
  return steps;
}

std::vector<int64_t> up_to(int64_t last) {
  std::vector<int64_t> steps(size_t(last), 0);
  std::iota(steps.begin(), steps.end(), 1);
  return steps;
}

}  // namespace

TEST_CASE("a run goes on from the newest branch, not from the highest step of one that was left") {
  const Folder folder;
  folder.write("count.lua", kCounting);
  const std::string twenty = "runs/a/checkpoints/step-00000020.safetensors";
  const auto goes_on = [&](const std::string& from, int64_t stop, const std::string& first,
                           std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"run", "count.lua", "--resume", from, "--stop-at", std::to_string(stop)});
    const Finished run = folder.run(more);
    CHECK(run.out == "first " + first + "\n");
    CHECK(run.code == 130);
    CHECK(exported_steps(folder, "a") == up_to(stop));
  };
  REQUIRE(folder.run({"run", "count.lua", "--run-dir", "runs/a", "--stop-at", "50"}).code == 130);
  goes_on(twenty, 30, "21");
  CHECK(folder.run({"runs", "show", "a"}).out.find("step-00000030.safetensors") != std::string::npos);
  goes_on("runs/a", 35, "31");
  goes_on(twenty, 25, "21");  // abandons 30 and 35
  goes_on("a", 30, "26");     // writes 30 again
  goes_on("a", 33, "31");
  // An automatic checkpoint counts, too. An abandoned checkpoint is resumed when it is named.
  goes_on(twenty, 29, "21", {"--checkpoint-every", "0.001", "--", "slow"});
  fs::remove(folder.path() + "/runs/a/checkpoints/step-00000029.safetensors");  // the checkpoint of the stop
  int first = 0;
  const Finished automatic =
      folder.run({"run", "count.lua", "--resume", "a", "--stop-at", "30", "--", "slow"});
  REQUIRE(std::sscanf(automatic.out.c_str(), "first %d\n", &first) == 1);
  CHECK(first > 21);
  CHECK(first <= 29);
  const std::string fifty = "runs/a/checkpoints/step-00000050.safetensors";
  for (const auto& [from, step] : {std::pair{fifty, 51}, {std::string("a"), 52}})
    CHECK(folder.run({"run", "count.lua", "--resume", from, "--stop-at", std::to_string(step), "--", "slow"})
              .out == text("first ", step, "\n"));
}

TEST_CASE("rows that a script without a loop of steps logged after a checkpoint are void in a resumed run") {
  const Folder folder;
  folder.write("train.lua", R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.nn.Linear(2, 1) end)
local sgd = lg.run.state("sgd", function() return lg.optim.SGD(w:parameters(), {lr = 0.01}) end)
local at = lg.run.state("at", function() return {step = 0} end)
for step = at.step + 1, 9 do
  local loss = w(lg.ones(1, 2)):sum()
  lg.run.log{loss = loss}
  lg.run.text("said", "step " .. step)
  sgd:zero_grad() loss:backward() sgd:step()
  at.step = step
  if step % 3 == 0 then lg.run.checkpoint() end
  if step == tonumber((...)) then os.exit(3) end
end
)");
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "runs/whole"}).code == 0);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "runs/a", "--", "8"}).code == 3);
  for (const char* stop : {"8", "7", "none"}) folder.run({"run", "train.lua", "--resume", "a", "--", stop});
  CHECK(folder.run({"runs", "export", "a"}).code == 0);
  std::istringstream rows(folder.run({"runs", "show", "a"}).out);
  std::string shown;
  for (std::string line; std::getline(rows, line);)
    if (line.starts_with("loss")) shown = line;
  CHECK(shown.find(" 9 ") != std::string::npos);  // rows: steps 0 to 8
  CHECK(folder.run({"runs", "diff", "whole", "a"}).out.find("the same for 8 rows") != std::string::npos);
}

TEST_CASE("a name of a run resumes it, as the other commands take it") {
  const Folder folder;
  folder.write("count.lua", kCounting);
  const auto resumes = [&](const std::string& named, const std::string& out, int code = 130) {
    CAPTURE(named);
    const Finished run = folder.run({"run", "count.lua", "--resume", named, "--stop-at", "12"});
    CHECK(run.out == out);
    CHECK(run.code == code);
    return run.err;
  };
  for (const char* name : {"first-try", "other-try"})
    REQUIRE(folder.run({"run", "count.lua", "--run-dir", text("runs/", name), "--stop-at", "11"}).code ==
            130);
  resumes("first", "first 12\n");
  resumes("other-try", "first 12\n");
  CHECK(resumes("try", "", 6).find("try: 2 runs are called so, runs/first-try first") != std::string::npos);
  CHECK(resumes("third", "", 6).find("--resume third: no such file or folder, and no run in runs/") !=
        std::string::npos);
  // A path comes first.
  fs::create_directory(folder.path() + "/other");
  CHECK(resumes("other", "", 6).find("there is no checkpoint in this folder") != std::string::npos);
  fs::remove(folder.path() + "/other");
  // In a sandbox as well, and from the script.
  CHECK(folder.run({"run", "count.lua", "--sandbox", "--resume", "other", "--stop-at", "13"}).out ==
        "first 13\n");
  folder.write("own.lua", "require('lunagrad').run.resume('first') " + std::string(kCounting));
  CHECK(folder.run({"run", "own.lua", "--stop-at", "13"}).out == "first 13\n");
}

TEST_CASE("--checkpoint-every keeps one automatic checkpoint") {
  const Folder folder;
  folder.write("train.lua", kResumedTraining);
  CHECK(folder.run({"run", "train.lua", "--run-dir", "kept", "--steps", "300", "--checkpoint-every", "0.001"})
            .code == 0);
  const fs::directory_iterator files(folder.path() + "/kept/checkpoints");
  CHECK(std::distance(begin(files), end(files)) == 1);
}

TEST_CASE("SIGUSR2 and SIGTERM together stop a run as one of them does") {
  const Folder folder;
  // A step that a second request would interrupt, without a checkpoint.
  const std::string script = folder.write("slow.lua", R"(
local lg = require "lunagrad"
lg.run.state("w", function() return lg.zeros(3) end)
for step in lg.run.steps(1000) do
  print("step " .. step)
  local till = os.clock() + 1
  repeat until os.clock() > till
end
)");
  for (const auto& [first, second] : {std::pair(SIGUSR2, SIGTERM), std::pair(SIGTERM, SIGUSR2)}) {
    Program program({kProgram, "run", script, "--run-dir", "run" + std::to_string(first)}, "", {},
                    folder.path());
    REQUIRE(program.wrote("step 1\n"));
    program.signal(first);
    program.signal(second);
    const Finished stopped = program.finish();
    CHECK(stopped.code == 143);
    CHECK(stopped.err.find("checkpoint saved in run") != std::string::npos);
  }
}

TEST_CASE("without registered states Ctrl-C reports that there is no checkpoint") {
  const Folder folder;
  const std::string script = folder.write(
      "plain.lua",
      "local lg = require 'lunagrad' for i in lg.run.steps(1000000) do if i == 5 then print('go') end end");
  Program program({kProgram, "run", script}, "", {}, folder.path());
  REQUIRE(program.wrote("go"));
  program.signal(SIGINT);
  const Finished stopped = program.finish();
  CHECK(stopped.code == 130);
  CHECK(stopped.err.find("no checkpoint was written: nothing is registered with lg.run.state") !=
        std::string::npos);
}

TEST_CASE("killed at any moment, the newest checkpoint can be loaded") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kResumedTraining);
  std::mt19937 random(7);
  const int times = std::getenv("LUNAGRAD_TEST_ALL") ? 100 : 6;
  for (int i = 0; i < times; ++i) {
    const std::string run = folder.path() + "/run" + std::to_string(i);
    {
      Program program({kProgram, "run", script, "--run-dir", run, "--steps", "100000", "--", "slow"}, "", {},
                      folder.path());
      REQUIRE(program.wrote("step 2\n"));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 30000));
      program.signal(SIGKILL);
      program.finish();
    }
    REQUIRE(!checkpoints(run).empty());
    const Finished rest = folder.run({"run", "train.lua", "--resume", run, "--steps", "1"});
    INFO(rest.err);
    CHECK(rest.code == 0);
  }
}

TEST_CASE("what cannot be resumed is an error with one sentence") {
  const Folder folder;
  folder.write("train.lua", kResumedTraining);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "run", "--steps", "2", "--set", "save_at=2"}).code ==
          0);
  const auto fails = [&](std::vector<std::string> arguments, int code, const char* part) {
    arguments.insert(arguments.begin(), {"run", "train.lua"});
    const Finished finished = folder.run(arguments);
    INFO(finished.err);
    CHECK(finished.code == code);
    CHECK(finished.err.find(part) != std::string::npos);
  };
  fails({"--resume", "nowhere"}, 6, "--resume nowhere: no such file or folder");
  fs::create_directory(folder.path() + "/empty");
  fails({"--resume", "empty"}, 6, "--resume empty: there is no checkpoint in this folder");
  fails({"--resume", "train.lua"}, 6, "not a safetensors file");
  fails({"--run-dir", "run"}, 6, "holds a run already; --resume run goes on with it");
  fails({"--resume", "run", "--set", "width=8", "--run-dir", "other"}, 1, "shape");

  const std::string saved = folder.path() + "/run/checkpoints/step-00000002.safetensors";
  const std::string bytes = read_file(saved);
  folder.write("cut.safetensors", bytes.substr(0, bytes.size() / 2));
  fails({"--resume", "cut.safetensors"}, 6, "cut.safetensors");
  REQUIRE(folder.run({"-e", "lg.io.save('table.safetensors', {1, 2})"}).code == 0);
  fails({"--resume", "table.safetensors"}, 6, "not a checkpoint");

  // A checkpoint that cannot be written leaves the older ones as they are.
  fs::rename(folder.path() + "/run/checkpoints", folder.path() + "/run/kept");
  std::ofstream(folder.path() + "/run/checkpoints") << "in the way";
  fails({"--resume", "run/kept/step-00000002.safetensors", "--run-dir", "run", "--set", "save_at=3"}, 6,
        "holds a run already");
  CHECK(read_file(folder.path() + "/run/kept/step-00000002.safetensors") == bytes);
}

TEST_CASE("two runs do not write to one folder") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kResumedTraining);
  Program program({kProgram, "run", script, "--run-dir", "run", "--steps", "100000", "--", "slow"}, "", {},
                  folder.path());
  REQUIRE(program.wrote("step 2\n"));
  const Finished second = folder.run({"run", "train.lua", "--resume", "run"});
  CHECK(second.code == 6);
  CHECK(second.err.find("another run is writing to it") != std::string::npos);
  program.signal(SIGKILL);
  program.finish();
}

TEST_SUITE_END();
