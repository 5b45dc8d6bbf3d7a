// Damaged and lost files of a sweep: join, ls and best work without them, and `runs check --repair` makes
// them again.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/core/error.h"
#include "script/check/check.h"
#include "script/run/sweep.h"
#include "script/sweep/board.h"
#include "tests/support/damage.h"
#include "tests/support/program.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::sweep;
using lunagrad::test::Finished;
using lunagrad::test::Folder;
using lunagrad::test::read_file;
namespace fs = std::filesystem;

namespace {

const char* const kScript = R"(
local lg = require "lunagrad"
local x = lg.run.param("x", 1.0)
for step in lg.run.steps(4) do lg.run.log {loss = (x - step) ^ 2 + 0.25 * x} end
)";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void make(const Folder& folder) {
  folder.write("x.lua", kScript);
  REQUIRE(folder.run({"sweep", "new", "s", "x.lua", "--grid", "x=1,2,3"}).code == 0);
}

Finished command(const Folder& folder, const char* verb, std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), {"sweep", verb, "s"});
  return folder.run(flags);
}

// The only file in a part of the sweep whose name begins with `begin`.
std::string file_of(const Folder& folder, const std::string& part, const std::string& begin) {
  std::string found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path() + "/s/" + part))
    if (entry.path().filename().string().starts_with(begin)) found = entry.path().string();
  REQUIRE(!found.empty());
  return found;
}

}  // namespace

TEST_CASE("sweep: a damaged result is read as it was written, or not at all") {
  const Folder folder;
  fs::create_directories(folder.path() + "/results");
  const Leg leg{3, 1, 2, "w"};
  write_result(folder.path(), leg,
               {.ending = Ending::rung, .value = 0.0625, .value_step = 17, .steps = 20, .error = ""});
  const std::string path = path_of_result(folder.path(), leg), good = read_file(path);
  std::mt19937_64 random(3);
  const int count = tests::long_run() ? 5000 : 500;
  int errors = 0;
  for (int i = 0; i < count; ++i) {
    const tests::Damaged bad = tests::damaged(good, random);
    CAPTURE(bad.content);
    std::ofstream(path, std::ios::binary) << bad.content;
    try {
      const Result read = read_result(folder.path(), leg);
      CHECK(read.ending == Ending::rung);
      CHECK(read.value == 0.0625);
      CHECK(read.value_step == 17);
      CHECK(read.steps == 20);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::file);
      ++errors;
    }
  }
  CHECK(errors > count * 8 / 10);
  // The result of another leg.
  std::ofstream(path, std::ios::binary) << good;
  fs::copy_file(path, path_of_result(folder.path(), {4, 1, 2, "w"}));
  CHECK_THROWS_WITH(read_result(folder.path(), {4, 1, 2, "w"}), doctest::Contains("of another leg"));
}

TEST_CASE("sweep: one damaged result stops neither join nor ls nor best, and is repaired") {
  const Folder folder;
  make(folder);
  REQUIRE(command(folder, "join").code == 0);
  const std::string before = command(folder, "ls").out, result = file_of(folder, "results", "00002.");
  std::ofstream(result, std::ios::binary) << std::string(4096, '\0');

  const Finished list = command(folder, "ls"), best = command(folder, "best"), join = command(folder, "join");
  for (const Finished* const shown : {&list, &best, &join}) {
    CAPTURE(shown->err);
    CHECK(shown->code == 0);
    CHECK(has(shown->err, "skipped 1 damaged result of "));
    CHECK(has(shown->err, "(trial 2)"));
  }
  CHECK(has(list.out, "failed"));
  CHECK(has(best.out, "loss"));

  const Finished found = folder.run({"runs", "check", "s"});
  CHECK(found.code == 6);
  CHECK(has(found.out, "s/results/00002."));
  CHECK(has(found.out, "checked 3 runs, 1 sweep: 1 damaged\n"));
  const Finished repaired = folder.run({"runs", "check", "s", "--repair"});
  CAPTURE(repaired.out);
  CHECK(repaired.code == 0);
  CHECK(has(repaired.out, "made again from the trial's run"));
  CHECK(command(folder, "ls").out == before);
  CHECK(command(folder, "ls").err.empty());
  CHECK(fs::exists(folder.path() + "/s/damaged/results/" + fs::path(result).filename().string()));
}

TEST_CASE("sweep: a trial with a damaged result is run again by --retry-failed") {
  const Folder folder;
  make(folder);
  REQUIRE(command(folder, "join").code == 0);
  const std::string before = command(folder, "ls").out;
  std::ofstream(file_of(folder, "results", "00001."), std::ios::binary) << "{";
  CHECK(command(folder, "join", {"--retry-failed"}).code == 0);
  CHECK(command(folder, "ls").out == before);
}

TEST_CASE("sweep: a lost file in done/ is not waited for") {
  const Folder folder;
  make(folder);
  REQUIRE(command(folder, "join").code == 0);
  const std::string before = command(folder, "ls").out;
  const std::string lost = file_of(folder, "done", "00003.");
  fs::remove(lost);
  CHECK(command(folder, "join", {"--wait"}).code == 0);
  CHECK(command(folder, "ls").out == before);
  const Finished repaired = folder.run({"runs", "check", "s", "--repair"});
  CAPTURE(repaired.out);
  CHECK(repaired.code == 0);
  CHECK(has(repaired.out, "s: leg 1 of trial 3: its file is neither"));
  CHECK(fs::exists(lost));
  CHECK(folder.run({"runs", "check", "s"}).code == 0);
}

TEST_CASE("sweep: a lost file in waiting/ ends join after its patience, and a repair makes it again") {
  const Folder folder;
  make(folder);
  fs::remove(file_of(folder, "waiting", "00003."));
  const Finished join = command(folder, "join", {"--wait", "--patience", "1"});
  CAPTURE(join.err);
  CHECK(join.code == 6);
  CHECK(has(join.err, "the files of 1 leg are lost (trial 3)"));
  CHECK(folder.run({"runs", "check", "s"}).code == 6);
  CHECK(folder.run({"runs", "check", "s", "--repair"}).code == 0);
  CHECK(command(folder, "join").code == 0);
  CHECK(has(command(folder, "ls").out, "finished"));
  CHECK(!has(command(folder, "ls").out, "waiting"));
}

TEST_CASE("sweep: a result of a rung is made again from the steps up to the rung") {
  const Folder folder;
  folder.write("x.lua", R"(
local lg = require "lunagrad"
local x = lg.run.param("x", 1.0)
local seen = lg.run.state("seen", function() return {count = 0} end)
for step in lg.run.steps(8) do seen.count = seen.count + 1; lg.run.log {loss = x - step} end
)");
  REQUIRE(folder
              .run({"sweep", "new", "s", "x.lua", "--grid", "x=1,2,3,4", "--asha", "loss", "--eta", "2",
                    "--smallest", "2"})
              .code == 0);
  REQUIRE(command(folder, "join").code == 0);
  const auto results = [&] {
    std::map<std::string, std::string> all;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.path() + "/s/results"))
      all[entry.path().filename().string()] = read_file(entry.path().string());
    return all;
  };
  const auto before = results();
  REQUIRE(before.size() >= 6);
  for (const auto& [name, content] : before)
    std::ofstream(folder.path() + "/s/results/" + name, std::ios::binary) << "damaged";
  CheckReport report;
  check_sweep(folder.path() + "/s", true, report);
  CHECK(report.damages.size() == before.size());
  CHECK(!report.has_unrepaired());
  CHECK(results() == before);
}

TEST_CASE("sweep: a damaged plan is an error that names its file") {
  const Folder folder;
  make(folder);
  const std::string path = folder.path() + "/s/sweep.json", good = read_file(path);
  std::string bad = good;
  bad[bad.find("\"seed\": 0") + 8] = '4';
  std::ofstream(path) << bad;
  const Finished list = command(folder, "ls");
  CHECK(list.code == 6);
  CHECK(has(list.err, "s/sweep.json: cannot be used: it is damaged"));
}
