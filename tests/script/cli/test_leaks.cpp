// `run --leaks` as a user sees it: the table, the lines of JSON, the exit code.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/program.h"

using namespace lunagrad::test;

namespace {

std::string script(const std::string& in_step) {
  return "local lg = require 'lunagrad'\nlocal w = lg.ones(4):requires_grad_()\nlocal kept = {}\n"
         "for step in lg.run.steps(10) do\nlocal loss = (w * step):sum()\nloss:backward()\n" +
         in_step + "\nend\n";
}

}  // namespace

TEST_CASE("run --leaks tells owners in a table and ends with 9") {
  const Folder folder;
  folder.write("leak.lua", script("kept[step] = loss"));
  const Finished found = folder.run({"run", "leak.lua", "--leaks"});
  CHECK(found.code == 9);
  CHECK(found.err.find("leaks: 1 owner holds") != std::string::npos);
  CHECK(found.err.find("local kept[*]  leak.lua:3  10 tapes") != std::string::npos);
  CHECK(found.err.find("local kept[1]: keep x:item()") != std::string::npos);
  CHECK(folder.run({"run", "leak.lua"}).code == 0);

  folder.write("clean.lua", script("kept[step] = loss:item()"));
  const Finished clean = folder.run({"run", "--leaks", "clean.lua"});
  CHECK(clean.code == 0);
  CHECK(clean.err.find("leaks: none (looked at the end of 10 of 10 steps)") != std::string::npos);
}

TEST_CASE("run --leaks --json has a line for each owner, before the last line") {
  const Folder folder;
  folder.write("leak.lua", script("kept[step] = loss"));
  const Finished run = folder.run({"run", "leak.lua", "--leaks", "--json"});
  CHECK(run.code == 9);
  std::vector<nlohmann::json> lines;
  std::istringstream in(run.out);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() > 3);
  const nlohmann::json &leak = lines[lines.size() - 3], &sum = lines[lines.size() - 2];
  CHECK(leak["event"] == "leak");
  CHECK(leak["owner"] == "local kept[*]");
  CHECK(leak["line"] == 3);
  CHECK(leak["made_line"] == 5);
  CHECK(leak["count"] == 10);
  CHECK(sum["event"] == "leaks");
  CHECK(sum["count"] == 1);
  CHECK(lines.back()["event"] == "end");
  CHECK(lines.back()["exit_code"] == 9);
}

TEST_CASE("the size from which on a tensor counts can be set, and a script's error keeps its exit code") {
  const Folder folder;
  folder.write("small.lua", script("kept[step] = lg.ones(64)"));
  CHECK(folder.run({"run", "small.lua", "--leaks"}).code == 0);
  CHECK(folder.run({"run", "small.lua", "--leaks=256B"}).code == 9);
  CHECK(folder.run({"run", "small.lua", "--leaks=256"}).code == 2);  // without a unit
  CHECK(folder.run({"run", "small.lua", "--leaks=1MiB"}).code == 0);
  CHECK(folder.run({"run", "small.lua", "--leaks=much"}).code == 2);
  CHECK(folder.run({"run", "small.lua", "--leaks=-1"}).code == 2);
  folder.write("error.lua", script("kept[step] = loss") + "error('ends')\n");
  const Finished failed = folder.run({"run", "error.lua", "--leaks"});
  CHECK(failed.code == 1);
  CHECK(failed.err.find("local kept[*]") != std::string::npos);
  folder.write("none.lua", "local lg = require 'lunagrad' print(lg.ones(2):sum())\n");
  const Finished none = folder.run({"run", "none.lua", "--leaks"});
  CHECK(none.code == 0);
  CHECK(none.err.find("leaks: no step has ended") != std::string::npos);
}
