// A run whose disk is full, simulated by a limit on the size of files: its messages, and the files that it
// leaves.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "script/run/record.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

// No file may grow beyond so many KiB.
Finished run_limited(const Folder& folder, int kib, const std::string& arguments) {
  const std::string command = "set -o pipefail; (ulimit -f " + std::to_string(kib) + "; exec " + kProgram +
                              " " + arguments + ") | cat";
  return Program({"bash", "-c", command}, "", {}, folder.path()).finish();
}

size_t times(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("a checkpoint that cannot be written keeps the earlier ones, and the run continues") {
  const Folder folder;
  folder.write("grow.lua", R"(
local lg = require "lunagrad"
local kept = lg.run.state("kept", function() return {w = lg.zeros(100)} end)
for step in lg.run.steps(8) do
  if step == 4 then kept.w = lg.ones(200000) end
  if step == 7 then kept.w = lg.ones(100) end
  if step % 3 ~= 0 then lg.run.checkpoint() end
  lg.run.log{step = step}
end
kept.w = lg.ones(200000)
print(pcall(lg.run.checkpoint))
print "the end"
)");
  const Finished run = run_limited(folder, 64, "run grow.lua --run-dir r");
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.out.find("the end") != std::string::npos);
  CHECK(run.out.find("false\t") == 0);
  CHECK(run.out.find("step-00000008.safetensors: cannot write: File too large") != std::string::npos);
  CHECK(times(run.err, "warning: no checkpoint was written, the run goes on: ") == 2);
  CHECK(times(run.err, "warning: ") == 2);
  CHECK(files_in(folder.path() + "/r/checkpoints") ==
        std::vector<std::string>{"step-00000001.safetensors", "step-00000002.safetensors",
                                 "step-00000007.safetensors", "step-00000008.safetensors"});
  const Finished rest = folder.run(
      {"-e", "print(lg.io.load('r/checkpoints/step-00000008.safetensors').states.kept.w:sum():item())"});
  CHECK(rest.out == "100.0\n");
}

TEST_CASE("metrics that no longer fit end with a complete line and one warning") {
  const Folder folder;
  folder.write("long.lua", R"(
local lg = require "lunagrad"
for step in lg.run.steps(2000) do
  lg.run.log{loss = 1 / step, accuracy = step / 3}
  print(("step %d has a line of some length"):format(step))
end
lg.run.image("late", lg.zeros(4, 4))
lg.run.image("noise", lg.rand(3, 200, 200))
)");
  const Finished run = run_limited(folder, 16, "run long.lua --run-dir r --tensorboard");
  INFO(run.err);
  CHECK(run.code == 6);
  CHECK(run.err.find("run folder r: incomplete: not written as a whole: ") != std::string::npos);
  CHECK(run.err.find("run saved") == std::string::npos);
  CHECK(times(run.out, "step ") == 2000);
  CHECK(times(run.err, "metrics.jsonl: File too large; the run goes on without it") == 1);
  CHECK(times(run.err, "log.txt: File too large; the run goes on without it") == 1);
  CHECK(times(run.err, "the run goes on without it") == 4);  // and the event file, and the large image
  CHECK(files_in(folder.path() + "/r/images") == std::vector<std::string>{"late-00002000.png"});
  const std::string metrics = read_file(folder.path() + "/r/metrics.jsonl");
  CHECK(metrics.back() == '\n');
  CHECK(metrics.size() <= 16384);
  const RunRecord record = read_run(folder.path() + "/r");
  CHECK(record.outcome == "file");
  CHECK(record.metrics.at("loss").size() == size_t(std::count(metrics.begin(), metrics.end(), '\n')));
}

TEST_CASE("a tape that does not fit leaves no incomplete line") {
  const Folder folder;
  folder.write("deep.lua", R"(
local lg = require "lunagrad"
for step in lg.run.steps(1) do
  local x = lg.ones(2):requires_grad_()
  local y = x
  for i = 1, 100 do y = y * 2 end
  y:sum():backward()
  lg.run.log{step = step}
end
)");
  const Finished run = run_limited(folder, 4, "run deep.lua --run-dir r");
  INFO(run.err);
  CHECK(run.code == 6);
  CHECK(run.err.find("incomplete: not written as a whole: tape.jsonl\n") != std::string::npos);
  CHECK(times(run.err, "tape.jsonl: File too large; the run goes on without it") == 1);
  CHECK(read_file(folder.path() + "/r/tape.jsonl").empty());
}

TEST_CASE("a disk that is full from the first byte is exit code 6, whatever the script does") {
  const char* const kLogs =
      "local lg = require 'lunagrad' lg.run.state('w', function() return lg.zeros(1) end) "
      "for step in lg.run.steps(3) do lg.run.log{loss = step} end ";
  struct Case {
    std::string code;
    int exit_code;
  };
  for (const Case& one : {Case{kLogs, 6},
                          {kLogs + std::string("os.exit(0)"), 6},
                          {"local lg = require 'lunagrad' lg.run.text('t', 'x')", 6},
                          {"local lg = require 'lunagrad' lg.run.image('t', lg.zeros(2, 2))", 6},
                          {"local lg = require 'lunagrad' lg.run.histogram('t', lg.zeros(2, 2))", 6},
                          {kLogs + std::string("os.exit(3)"), 3},
                          {kLogs + std::string("error('wrong')"), 1},
                          {"print('no run')", 0}}) {
    CAPTURE(one.code);
    const Folder folder;
    folder.write("a.lua", one.code);
    const Finished run = run_limited(folder, 0, "run a.lua --run-dir r --json --progress none 2>&1");
    INFO(run.out);
    CHECK(run.code == one.exit_code);
    CHECK(times(run.out, "\nwarning: r/metrics.jsonl: File too large; the run goes on without it\n") <= 1);
    if (one.exit_code == 0) continue;
    CHECK(run.out.find("config.json: cannot write: File too large; the run goes on without it") !=
          std::string::npos);
    CHECK(run.out.find("\"exit_code\":" + std::to_string(one.exit_code)) != std::string::npos);
    CHECK(run.out.find("\"incomplete\":\"run folder r: incomplete: not written as a whole: ") !=
          std::string::npos);
  }
}

TEST_CASE("a small file system that fills up is exit code 6, with what fitted in it") {
  const Folder folder;
  fs::create_directory(folder.path() + "/small");
  folder.write("a.lua", R"(
local lg = require "lunagrad"
lg.run.state("w", function() return lg.zeros(1) end)
for step in lg.run.steps(2000) do lg.run.log{loss = step} end
)");
  // A name space of its own, so that nothing stays mounted.
  const std::string mount = "mount -t tmpfs -o size=64k none small && ",
                    end = "; code=$?; " + kProgram + " runs show small/r; exit $code";
  const auto in_small = [&](const std::string& line) {
    return Program({"unshare", "--user", "--map-root-user", "--mount", "bash", "-c", mount + line + end}, "",
                   {}, folder.path())
        .finish();
  };
  if (in_small("true").code != 0) return;  // this user may not mount
  const Finished grown = in_small(kProgram + " run a.lua --run-dir small/r --progress none");
  INFO(grown.err);
  CHECK(grown.code == 6);
  CHECK(times(grown.err, "metrics.jsonl: No space left on device; the run goes on without it") == 1);
  CHECK(grown.err.find("incomplete: not written as a whole: ") != std::string::npos);
  CHECK(grown.out.find("loss") != std::string::npos);
  const Finished full = in_small("dd if=/dev/zero of=small/all status=none; mkdir small/r; " + kProgram +
                                 " run a.lua --run-dir small/r --progress none");
  CHECK_MESSAGE(full.code == 6, full.err);
}

TEST_CASE("the last checkpoint that could not be written is exit code 6") {
  const Folder folder;
  folder.write("grow.lua", R"(
local lg = require "lunagrad"
local kept = lg.run.state("kept", function() return {w = lg.zeros(100)} end)
for step in lg.run.steps(3) do
  if step == 3 then kept.w = lg.ones(200000) end
  lg.run.checkpoint()
end
)");
  const Finished run = run_limited(folder, 64, "run grow.lua --run-dir r");
  INFO(run.err);
  CHECK(run.code == 6);
  CHECK(run.err.find("incomplete: not written as a whole: the last checkpoint\n") != std::string::npos);
  const Finished rest = run_limited(folder, 64000, "run grow.lua --resume r --steps 4");
  CHECK_MESSAGE(rest.code == 0, rest.err);
}

TEST_CASE("a crashed run continues after its last complete line") {
  const Folder folder;
  folder.write("run.lua", R"(
local lg = require "lunagrad"
lg.run.state("w", function() return lg.zeros(1) end)
for step in lg.run.steps(4) do
  lg.ones(2):requires_grad_():square():sum():backward()
  lg.run.log{loss = step}
  if step == 2 then lg.run.checkpoint() end
end
)");
  REQUIRE(folder.run({"run", "run.lua", "--run-dir", "r", "--steps", "2"}).code == 0);
  const std::string path = folder.path() + "/r/metrics.jsonl", whole = read_file(path);
  folder.write("r/metrics.jsonl", whole + "{\"step\":3,\"time\":0.1,\"metr");
  const std::string tapes = read_file(folder.path() + "/r/tape.jsonl");
  folder.write("r/tape.jsonl", tapes + "{\"step\":9,\"nod");
  REQUIRE(folder.run({"run", "run.lua", "--resume", "r"}).code == 0);
  CHECK(read_file(path).rfind(whole + "{\"step\":2,", 0) == 0);
  CHECK(read_run(folder.path() + "/r").metrics.at("loss").size() == 4);
  CHECK(read_file(folder.path() + "/r/tape.jsonl")
            .rfind(tapes + "{\"checksummed\":true,\"step\":3,\"nodes\":", 0) == 0);
}
