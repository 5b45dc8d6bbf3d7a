// `lunagrad sweep`: what is drawn, what ls and best show, and one sentence for each mistake. tests/sweep/
// kills workers.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "runtime/core/error.h"
#include "script/sweep/axis.h"
#include "script/sweep/legs.h"
#include "tests/support/message_of.h"
#include "tests/support/program.h"

using namespace lunagrad;
using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

const char* const kSweepScript = R"(
local lg = require "lunagrad"
local x, wide = lg.run.param("x", 1.0, {max = 100}), lg.run.param("wide", 1)
if x == 13 then error("an unlucky number\nand more") end
for step in lg.run.steps(4) do lg.run.log {loss = (x - step) ^ 2, accuracy = x * step} end
)";

std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// The message of an error, without its prefix, and the exit code.
void fails(const Folder& folder, std::vector<std::string> arguments, int code, const std::string& message) {
  arguments.insert(arguments.begin(), "sweep");
  const Finished finished = folder.run(arguments);
  CHECK(finished.code == code);
  INFO(finished.err);
  CHECK(finished.err.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("sweep: draws depend on seed, trial and name, and fill their range") {
  const sweep::Axis real = sweep::parse_random("a=0..0.5"),
                    logarithmic = sweep::parse_random("a=1e-5..1e-1:log"),
                    whole = sweep::parse_random("a=1..4:int"), wide = sweep::parse_random("a=1..64:log:int"),
                    choice = sweep::parse_random("a=x,y,z"), renamed = sweep::parse_random("b=0..0.5");
  CHECK(sweep::draw(real, 1, 2) == sweep::draw(real, 1, 2));
  CHECK(sweep::draw(real, 1, 2) != sweep::draw(real, 2, 2));
  CHECK(sweep::draw(real, 1, 2) != sweep::draw(real, 1, 3));
  CHECK(sweep::draw(real, 1, 2) != sweep::draw(renamed, 1, 2));
  constexpr int kDraws = 4000;
  double sum = 0, log_sum = 0;
  std::map<std::string, int> wholes, choices;
  int small = 0;
  for (uint64_t trial = 0; trial < kDraws; ++trial) {
    const double value = std::atof(sweep::draw(real, 7, trial).c_str());
    CHECK(value >= 0);
    CHECK(value <= 0.5);
    sum += value;
    const double spread = std::log10(std::atof(sweep::draw(logarithmic, 7, trial).c_str()));
    CHECK(spread >= -5);
    CHECK(spread <= -1);
    log_sum += spread;
    ++wholes[sweep::draw(whole, 7, trial)];
    ++choices[sweep::draw(choice, 7, trial)];
    const int width = std::atoi(sweep::draw(wide, 7, trial).c_str());
    CHECK(width >= 1);
    CHECK(width <= 64);
    small += width < 8;
  }
  // Within five standard deviations of the mean.
  CHECK(std::fabs(sum / kDraws - 0.25) < 5 * 0.5 / std::sqrt(12.0 * kDraws));
  CHECK(std::fabs(log_sum / kDraws + 3) < 5 * 4 / std::sqrt(12.0 * kDraws));
  CHECK(wholes.size() == 4);
  for (const auto& [value, count] : wholes)
    CHECK(std::abs(count - kDraws / 4) < 5 * std::sqrt(kDraws * 3 / 16.0));
  CHECK(choices.size() == 3);
  for (const auto& [value, count] : choices)
    CHECK(std::abs(count - kDraws / 3) < 5 * std::sqrt(kDraws * 2 / 9.0));
  const double share = std::log(8.0) / std::log(65.0);
  CHECK(std::fabs(small - share * kDraws) < 5 * std::sqrt(kDraws * share * (1 - share)));
}

TEST_CASE("sweep: a leg's name is read back, and other names are not") {
  const sweep::Leg leg{12, 1, 3, "ab12"};
  CHECK(leg.name() == "00012.1.3.ab12");
  CHECK(sweep::parse_leg(leg.name()) == leg);
  for (const char* name : {"12.1.3.ab12", "00012.1.3", "00012.1.3.", ".nfs000012", "00012.-1.3.a", ""})
    CHECK(!sweep::parse_leg(name));
}

TEST_CASE("sweep: new, join, ls and best of a grid; trials are run folders") {
  const Folder folder;
  folder.write("x.lua", kSweepScript);
  REQUIRE(folder
              .run({"sweep", "new", "s", "x.lua", "--grid", "x=1,2.5,13", "--grid", "wide=1..2", "--",
                    "two words"})
              .code == 0);
  CHECK(lines_of(folder.run({"sweep", "ls", "s", "--json"}).out)[3]["state"] == "waiting");
  const Finished joined = folder.run({"sweep", "join", "s"});
  CHECK(joined.code == 1);  // two trials failed
  CHECK(joined.out.find("trial 1: finished, loss 0 at step 1 (x 1, wide 1)\n") != std::string::npos);
  const auto rows = lines_of(folder.run({"sweep", "ls", "s", "--json"}).out);
  REQUIRE(rows.size() == 6);
  CHECK(rows[2]["params"] == nlohmann::json({{"x", "2.5"}, {"wide", "1"}}));
  CHECK(rows[2]["best"] == 0.25);
  CHECK(rows[2]["best_step"] == 2);
  CHECK(rows[2]["step"] == 4);
  CHECK(rows[4]["state"] == "failed");
  CHECK(rows[4]["error"].get<std::string>().find("x.lua:4: an unlucky number") != std::string::npos);
  CHECK(rows[4]["best"].is_null());
  const Finished table = folder.run({"sweep", "ls", "s"});
  CHECK(table.out.find(
            "trial  state     x    wide  lowest loss  steps\n1      finished  1    1     0 @ 1        4") ==
        0);
  const auto best = lines_of(folder.run({"sweep", "best", "s", "--json"}).out);
  CHECK(best[0]["trial"] == 1);
  CHECK(folder.run({"sweep", "best", "s"})
            .out.find("x.lua --set x=1 --set wide=1 --seed 0 --threads 1 -- 'two words'\n") !=
        std::string::npos);
  CHECK(folder.run({"runs", "diff", "00001", "00002", "--in", "s/trials"}).out.find("param wide") !=
        std::string::npos);
  CHECK(folder.run({"sweep", "join", "s"}).out.empty());
  CHECK(folder.run({"sweep", "join", "s"}).code == 0);
  // The same failures once more, and only those.
  const Finished again = folder.run({"sweep", "join", "s", "--retry-failed"});
  CHECK(again.code == 1);
  CHECK(again.out.find("trial 5: failed") == 0);
  CHECK(again.out.find("finished") == std::string::npos);
}

TEST_CASE("sweep: more is better with --maximize, and halving needs few steps of bad trials") {
  const Folder folder;
  folder.write("x.lua", kSweepScript);
  const std::vector<std::string> make = {
      "sweep",  "new",    "s",        "x.lua",      "--random", "x=0..50", "--trials", "9",          "--set",
      "wide=3", "--asha", "accuracy", "--maximize", "accuracy", "--eta",   "3",        "--smallest", "1"};
  REQUIRE(folder.run(make).code == 0);
  CHECK(folder.run({"sweep", "join", "s"}).code == 0);
  const auto rows = lines_of(folder.run({"sweep", "ls", "s", "--json"}).out);
  const auto best = lines_of(folder.run({"sweep", "best", "s", "--json"}).out)[0];
  int whole = 0;
  double highest = 0;
  for (const auto& row : rows) {
    whole += row["step"] == 4;
    highest = std::max(highest, std::stod(row["params"]["x"].get<std::string>()));
    CHECK((row["state"] == "finished") == (row["step"] == 4));
  }
  CHECK(whole == 1);
  CHECK(std::stod(best["params"]["x"].get<std::string>()) == highest);
  CHECK(best["best"] == doctest::Approx(4 * highest));
}

TEST_CASE("sweep: one sentence for each mistake") {
  const Folder folder;
  folder.write("x.lua", kSweepScript);
  const auto wrong = [&](std::vector<std::string> options, int code, const std::string& message) {
    std::vector<std::string> arguments = {"new", "s", "x.lua"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    fails(folder, arguments, code, message);
    CHECK(!fs::exists(folder.path() + "/s"));
  };
  wrong({}, 2, "no parameter is swept; --grid NAME=VALUES or --random NAME=LOW..HIGH names one");
  wrong({"--grid", "x"}, 2, "--grid x: NAME=VALUES expected");
  wrong({"--grid", "x=1,,2"}, 2, "a value between two commas is empty");
  wrong({"--grid", "x=1,1"}, 2, "1 is listed twice");
  wrong({"--grid", "x=1..1.5"}, 2, "1.5 is not a whole number");
  wrong({"--grid", "x=1..20000"}, 2, "more than 10000 values; draw them with --random");
  wrong({"--grid", "x=1..200", "--grid", "wide=1..200"}, 2, "the grid has more than 10000 points");
  wrong({"--grid", "x=1,2", "--set", "x=3"}, 2, "'x' is given twice");
  wrong({"--grid", "x=1,2", "--trials", "3"}, 2, "the grid has 2 points, each of which is a trial");
  wrong({"--random", "x=0.5"}, 2, "LOW..HIGH or choices a,b expected");
  wrong({"--random", "x=1..0", "--trials", "3"}, 2, "the lower bound must be below the upper one");
  wrong({"--random", "x=0..a", "--trials", "3"}, 2, "two numbers LOW..HIGH expected");
  wrong({"--random", "x=0..1:log", "--trials", "3"}, 2, "a logarithm needs bounds above 0");
  wrong({"--random", "x=0..1:lin", "--trials", "3"}, 2, "':lin' is unknown; there are :log and :int");
  wrong({"--random", "x=0..1"}, 2, "--trials N is missing");
  wrong({"--random", "x=0..1", "--trials", "0"}, 2, "1 to 10000 expected");
  wrong({"--random", "x=0..1", "--grid", "wide=1,2,3", "--trials", "2"}, 2, "the grid alone has 3 points");
  wrong({"--grid", "x=1,2", "--asha", "loss"}, 2, "of 2 trials none would be promoted");
  wrong({"--grid", "x=1,2", "--asha", "loss", "--maximize", "accuracy"}, 2, "one metric ranks the trials");
  wrong({"--grid", "x=1,2", "--minimize", "loss", "--maximize", "accuracy"}, 2,
        "one of them ranks the trials");
  fails(folder, {"new", "s", "y.lua", "--grid", "x=1,2"}, 6, "y.lua: there is no such script");
  for (const char* command : {"join", "ls", "best"})
    fails(folder, {command, "none"}, 6,
          "none: not the folder of a sweep, it has no sweep.json; sweep new makes one");
  fs::create_directories(folder.path() + "/full/of/things");
  fails(folder, {"new", "full", "x.lua", "--grid", "x=1,2"}, 6,
        "full: exists and is not empty; name a new folder");

  REQUIRE(folder.run({"sweep", "new", "s", "x.lua", "--grid", "y=1,2"}).code == 0);
  fails(folder, {"new", "s", "x.lua", "--grid", "x=1,2"}, 6,
        "s: holds a sweep already; sweep join s works on it");
  fails(folder, {"best", "s"}, 1, "no trial of s has logged loss yet");
  // A name that the script does not have ends the worker, and no trial counts as tried.
  fails(folder, {"join", "s"}, 2,
        "--set y=1: the script declares no parameter 'y'; it declares wide, x; make a new sweep");
  CHECK(folder.run({"sweep", "ls", "s"}).out.find("failed") == std::string::npos);

  // A machine without the device does not fail the trials of other machines, either.
  REQUIRE(folder.run({"sweep", "new", "device", "x.lua", "--grid", "x=1,2", "--device", "vulkan:9"}).code ==
          0);
  fails(folder, {"join", "device"}, 5, "vulkan:9");
  CHECK(folder.run({"sweep", "ls", "device"}).out.find("failed") == std::string::npos);

  REQUIRE(folder.run({"sweep", "new", "out", "x.lua", "--grid", "x=1,1000"}).code == 0);
  CHECK(folder.run({"sweep", "join", "out"}).out.find("trial 2: failed: ") != std::string::npos);
  CHECK(folder.run({"sweep", "ls", "out"}).out.find("'x' is outside [-inf, 100]") != std::string::npos);

  REQUIRE(folder.run({"sweep", "new", "metric", "x.lua", "--grid", "x=1,2", "--minimize", "error"}).code ==
          0);
  CHECK(
      folder.run({"sweep", "join", "metric"}).out.find("the script logs no error; it logs accuracy, loss") !=
      std::string::npos);

  REQUIRE(folder.run({"sweep", "new", "changed", "x.lua", "--grid", "x=1,2"}).code == 0);
  folder.write("x.lua", std::string(kSweepScript) + "-- changed\n");
  fails(folder, {"join", "changed"}, 6, "x.lua: changed since the sweep was made");
  fs::remove(folder.path() + "/x.lua");
  fails(folder, {"join", "changed"}, 6, "x.lua: cannot be read");
}

TEST_CASE("sweep: a damaged plan is an error with its file, not a crash") {
  const Folder folder;
  folder.write("x.lua", kSweepScript);
  REQUIRE(folder.run({"sweep", "new", "s", "x.lua", "--random", "x=1..2", "--trials", "8", "--asha", "loss"})
              .code == 0);
  const std::string path = folder.path() + "/s/sweep.json", whole = read_file(path);
  const auto damaged = [&](const std::string& content) {
    folder.write("s/sweep.json", content);
    for (const char* command : {"join", "ls", "best"})
      fails(folder, {command, "s"}, 6, "s/sweep.json: cannot be used: ");
  };
  for (size_t length = 0; length + 3 < whole.size(); length += whole.size() / 13)
    damaged(whole.substr(0, length));
  for (const auto& [from, to] :
       {std::pair("\"eta\": 4", "\"eta\": 0"), std::pair("\"legs\": 2", "\"legs\": -1"),
        std::pair("\"x\"", "7"), std::pair("1..2", "2..1"),
        std::pair("\"lunagrad_sweep\": 1", "\"lunagrad_sweep\": 2")}) {
    std::string other = whole;
    REQUIRE(other.find(from) != std::string::npos);
    damaged(other.replace(other.find(from), std::string(from).size(), to));
  }
}

TEST_CASE(
    "sweep: a terminal shows the trial and the best one in a line that fits, and then a line for each "
    "trial") {
  const Folder folder;
  folder.write("x.lua", R"(
local lg = require "lunagrad"
local a_parameter_with_a_long_name = lg.run.param("a_parameter_with_a_long_name", 1.0)
for step in lg.run.steps(300) do
  lg.run.log {a_metric_with_a_long_name = a_parameter_with_a_long_name + 1 / step}
  local till = os.clock() + 0.002
  repeat until os.clock() > till
end
)");
  REQUIRE(folder
              .run({"sweep", "new", "s", "x.lua", "--grid", "a_parameter_with_a_long_name=1,2", "--minimize",
                    "a_metric_with_a_long_name"})
              .code == 0);
  TerminalProgram program({kProgram, "sweep", "join", folder.path() + "/s"}, {"TERM=xterm", "CI="});
  CHECK(program.wrote("0/2 ended | trial 1: "));
  CHECK(program.wrote("trial 1: finished, a_metric_with_a_long_name 1.003 at step 300"));
  CHECK(program.wrote("1/2 ended, best 1.003 (trial 1) | trial 2: "));
  CHECK(program.finish() == 0);
  const std::string& screen = program.screen();
  for (size_t at = screen.find('\r'); at != std::string::npos; at = screen.find('\r', at + 1)) {
    const size_t end = std::min(screen.find('\x1b', at), screen.find('\n', at));
    if (screen.compare(at + 1, 6, "trial ") != 0 && end != std::string::npos) CHECK(end - at <= 80);
  }
}

TEST_CASE("sweep: on a full disk the worker ends, and the trial is run by a later one") {
  const Folder folder;
  folder.write("x.lua", R"(
local lg = require "lunagrad"
local x = lg.run.param("x", 1.0)
for step in lg.run.steps(2000) do lg.run.log {loss = x + 1 / step} end
)");
  REQUIRE(folder.run({"sweep", "new", "s", "x.lua", "--grid", "x=1,2"}).code == 0);
  // A file of 2,000 rows has about 100 KiB.
  const Finished full =
      Program({"sh", "-c", "ulimit -f 64; exec \"$0\" sweep join s", kProgram}, "", {}, folder.path())
          .finish();
  CHECK(full.code == 6);
  CHECK(full.err.find("incomplete: not written as a whole: ") != std::string::npos);
  CHECK(lines_of(folder.run({"sweep", "ls", "s", "--json"}).out)[0]["state"] == "waiting");
  CHECK(folder.run({"sweep", "join", "s"}).code == 0);
  for (const auto& row : lines_of(folder.run({"sweep", "ls", "s", "--json"}).out))
    CHECK(row["state"] == "finished");
}
