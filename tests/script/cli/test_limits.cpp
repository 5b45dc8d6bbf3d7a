// The program when a script cannot continue: calls of Lua's own library that do not return, a time limit
// inside a step, allocations that fail, unexpected files.
#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "tests/support/program.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

// Backtracks for hours.
const char* const kEndlessPattern =
    "print('begun') io.stdout:flush() string.find(string.rep('a', 4000), string.rep('.-', 12) .. 'b')\n";

const char* const kSlowSteps = R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.zeros(1) end)
for step in lg.run.steps(1000000) do
  w:add_(1)
  print("step " .. step)
  local clock = os.clock()
  while os.clock() - clock < 0.01 do end
end
)";

size_t checkpoints_in(const std::string& folder) {
  std::error_code none;
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder + "/checkpoints", none))
    count += entry.is_regular_file();
  return count;
}

}  // namespace

TEST_CASE("a time limit and two interrupts end a call of Lua's library that does not come back") {
  const Folder folder;
  folder.write("endless.lua", kEndlessPattern);
  CHECK(folder.run({"run", "endless.lua", "--timeout", "1"}).code == 124);
  Program program({kProgram, "run", "endless.lua"}, "", {}, folder.path());
  REQUIRE(program.wrote("begun"));
  program.signal(SIGINT);
  program.signal(SIGINT);
  const Finished ended = program.finish();
  CHECK(ended.code == 130);
  CHECK(ended.err.find("does not come back from string.find (endless.lua:1)") != std::string::npos);
}

TEST_CASE("a time limit writes a checkpoint, SIGUSR1 too, and the run goes on") {
  const Folder folder;
  folder.write("steps.lua", kSlowSteps);
  const Finished limited = folder.run({"run", "steps.lua", "--run-dir", "limited", "--timeout", "2"});
  INFO(limited.err);
  CHECK(limited.code == 124);
  CHECK(checkpoints_in(folder.path() + "/limited") == 1);

  Program program({kProgram, "run", "steps.lua", "--run-dir", "asked"}, "", {}, folder.path());
  REQUIRE(program.wrote("step 3\n"));
  program.signal(SIGUSR1);
  const std::string saved = "checkpoint saved in asked/checkpoints/step-";
  REQUIRE(program.wrote(saved + "00000"));
  CHECK(checkpoints_in(folder.path() + "/asked") == 1);
  // The checkpoint of a later step is another file.
  const int step = std::stoi(program.err().substr(program.err().find(saved) + saved.size()));
  REQUIRE(program.wrote("step " + std::to_string(step + 2) + "\n"));
  program.signal(SIGTERM);
  CHECK(program.finish().code == 143);
  CHECK(checkpoints_in(folder.path() + "/asked") == 2);
}

TEST_CASE("checkpoints are kept as keep_last and keep_best say") {
  const Folder folder;
  folder.write("kept.lua", R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.zeros(1) end)
for step in lg.run.steps(8) do
  w:add_(1)
  lg.run.log {loss = math.abs(step - 3)}
  lg.run.checkpoint {keep_last = 2, keep_best = "loss"}
end)");
  CHECK(folder.run({"run", "kept.lua", "--run-dir", "kept"}).code == 0);
  CHECK(checkpoints_in(folder.path() + "/kept") == 3);
  CHECK(folder.run({"run", "kept.lua", "--resume", "kept", "--steps", "10"}).code == 0);
  CHECK(checkpoints_in(folder.path() + "/kept") == 3);
  CHECK(fs::exists(folder.path() + "/kept/checkpoints/step-00000003.safetensors"));
}

TEST_CASE("a checkpoint without the position of a loader is announced, when written and when resumed") {
  const Folder folder;
  folder.write("loader.lua", R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.zeros(1) end)
local loader = lg.data.DataLoader(lg.data.TensorDataset(lg.randn(8, 2)), {batch_size = 2, shuffle = true})
if arg[1] then lg.run.state("loader", function() return loader end) end
local next_batch = loader:cycle()
for step in lg.run.steps(3) do
  next_batch()
  lg.run.checkpoint()
end)");
  const Finished first = folder.run({"run", "loader.lua", "--run-dir", "lost"});
  INFO(first.err);
  CHECK(first.code == 0);
  const std::string warning = "is not registered, so a resumed run begins its data again";
  const size_t at = first.err.find(warning);
  CHECK(at != std::string::npos);
  CHECK(first.err.find(warning, at + 1) == std::string::npos);
  const Finished again = folder.run({"run", "loader.lua", "--resume", "lost", "--steps", "4"});
  CHECK(again.err.find("holds no position of the data") != std::string::npos);
  const Finished good = folder.run({"run", "loader.lua", "--run-dir", "held", "--", "registered"});
  INFO(good.err);
  CHECK(good.err.find("not registered") == std::string::npos);
}

TEST_CASE("a loader between two equal passes has no position to announce") {
  const Folder folder;
  folder.write("loader.lua", R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.zeros(1) end)
local options = {batch_size = 2, shuffle = arg[1] == "shuffled"}
if arg[1] == "drawn" then options.sampler = {3, 1, 0, 2} end
local set = lg.data.TensorDataset(lg.randn(4, 1, 2, 2), {transform = arg[1] == "changed" and function(x) return x * 2 end or nil})
local loader = lg.data.DataLoader(lg.data.Subset(set, {0, 1, 2, 3}), options)
for step in lg.run.steps(3) do
  for x in loader do
    if arg[1] == "left" and step == 3 then break end
  end
  lg.run.checkpoint()
end)");
  for (const auto& [way, warned] :
       {std::pair("whole", false), {"left", true}, {"shuffled", true}, {"drawn", true}, {"changed", true}}) {
    const Finished done = folder.run({"run", "loader.lua", "--run-dir", way, "--", way});
    INFO(way, ": ", done.err);
    CHECK(done.code == 0);
    CHECK((done.err.find("is not registered") != std::string::npos) == warned);
  }
}

TEST_CASE("a byte-order mark, a long message, leftovers of a killed save") {
  const Folder folder;
  folder.write("marked.lua", "\xEF\xBB\xBF#!/usr/bin/env lunagrad\nprint('read')\n");
  CHECK(folder.run({"run", "marked.lua"}).out == "read\n");
  folder.write("long.lua", "error(string.rep('x', 50000000) .. 'END')");
  const Finished shortened = folder.run({"run", "long.lua"});
  CHECK(shortened.code == 1);
  CHECK(shortened.err.size() < 100000);
  CHECK(shortened.err.find("bytes are left out") != std::string::npos);
  folder.write("save.lua", "local lg = require 'lunagrad' lg.io.npy.save('a.npy', lg.ones(2))");
  folder.write("a.npy.lunagrad-Ab12Cd", "half");
  folder.write("a.npy.backup", "mine");
  CHECK(folder.run({"run", "save.lua"}).code == 0);
  CHECK_FALSE(fs::exists(folder.path() + "/a.npy.lunagrad-Ab12Cd"));
  CHECK(fs::exists(folder.path() + "/a.npy.backup"));
}

TEST_CASE("runs prune, test --filter, help of PyTorch's names and searched") {
  const Folder folder;
  folder.write("good.lua",
               "local lg = require 'lunagrad' for s in lg.run.steps(1) do lg.run.log{loss = 1} end");
  folder.write(
      "bad.lua",
      "local lg = require 'lunagrad' for s in lg.run.steps(1) do lg.run.log{loss = 2} end error('x')");
  folder.run({"run", "good.lua", "--run-dir", "runs/a"});
  folder.run({"run", "bad.lua", "--run-dir", "runs/b"});
  folder.run({"run", "good.lua", "--run-dir", "runs/c"});
  CHECK(folder.run({"runs", "diff", "a", "c"}).code == 0);
  CHECK(folder.run({"runs", "diff", "a", "b"}).code == 1);
  CHECK(folder.run({"runs", "prune"}).code == 2);
  CHECK(folder.run({"runs", "prune", "--failed", "--yes"}).out == "removed runs/b\n");
  CHECK(folder.run({"runs", "prune", "--keep", "1", "--yes"}).code == 0);
  CHECK(fs::exists(folder.path() + "/runs/c"));
  CHECK_FALSE(fs::exists(folder.path() + "/runs/a"));

  folder.write("test_two.lua", "it('first', function() end) it('second', function() error('no') end)");
  CHECK(folder.run({"test", "--filter", "first"}).code == 0);
  CHECK(folder.run({"test", "--filter", "sec"}).code == 3);

  CHECK(folder.run({"help", "torch.save"}).out.find("lg.io.save") != std::string::npos);
  CHECK(folder.run({"help", "torch.nn.Linear"}).out.find("lg.nn.Linear") != std::string::npos);
  CHECK(folder.run({"help", "--search", "label_smoothing"}).out.find("cross_entropy") != std::string::npos);
  CHECK(folder.run({"help", "--search", "nosuchword"}).code == 2);
  CHECK(folder.run({"version"}).out.find("commit ") != std::string::npos);
  CHECK(folder.run({"run", "good.lua", "--threads", "0"}).code == 2);
  CHECK(folder.run({"run", "good.lua", "--threads", "1"}).code == 0);
}

TEST_SUITE_END();
