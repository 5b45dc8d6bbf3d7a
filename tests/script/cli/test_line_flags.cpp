// `lunagrad -e CODE`: the flags of `lunagrad run` work before and after it, and none is dropped silently.
#include <doctest/doctest.h>

#include <filesystem>

#include "tests/support/program.h"
#include "tests/support/sanitizers.h"

using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kLineOfSteps =
    "lg.run.state('w', function() return lg.zeros(1) end) "
    "for step in lg.run.steps(3) do lg.run.log{loss = step} end print(lg.run.param('lr', 0.5))";

}  // namespace

TEST_CASE("flags of lunagrad run work before and after a line of code") {
  const Folder folder;
  struct Case {
    std::vector<std::string> flags;
    const char* code;
    int exit_code;
    const char* out;
    const char* err;
  };
  const char* const random =
      "print(lg.rand(1):item() == (function() lg.manual_seed(7) return lg.rand(1):item() end)())";
  for (const Case& one : {
           Case{{"--seed", "7"}, random, 0, "true\n", ""},
           {{"--seed=7"}, random, 0, "true\n", ""},
           {{"--set", "lr=0.25"}, "print(lg.run.param('lr', 0.5))", 0, "0.25\n", ""},
           {{"--set", "rate=1"}, "print(lg.run.param('lr', 0.5))", 2, "0.5\n", "rate"},
           {{"--set", "lr"}, "print(1)", 2, "", "--set lr: expected name=value"},
           {{"--timeout", "0.3"}, "while true do end", 124, "", "time limit reached"},
           {{"--sandbox"}, "print(io)", 0, "nil\n", ""},
           {{"--device", "none"}, "print(1)", 5, "", "none"},
           {{"--guard", "op"}, "local x = lg.zeros(1):log()", 4, "", "log"},
           {{"--threads", "1"}, "print(lg.get_num_threads())", 0, "1\n", ""},
           {{"--threads", "0"}, "print(1)", 2, "", "--threads 0: 1 to"},
           {{"--steps", "2"}, "local n = 0 for i in lg.run.steps(3) do n = i end print(n)", 0, "2\n", ""},
           {{"--json"}, "print(1)", 0, "{\"event\":\"start\"", "1\n"},
           {{"--leaks"}, "print(1)", 0, "1\n", ""},
           {{"--memory", "zero"}, "print(1)", 2, "", "zero"},
           {{"--watch"}, "print(1)", 2, "", "--watch goes with a file: lunagrad run SCRIPT"},
           {{"--ranks", "2"}, "print(1)", 2, "", "--ranks goes with a file: lunagrad run SCRIPT"},
       }) {
    for (const bool before : {true, false}) {
      std::vector<std::string> arguments = {"-e", one.code};
      arguments.insert(before ? arguments.begin() : arguments.end(), one.flags.begin(), one.flags.end());
      CAPTURE(one.flags[0]);
      CAPTURE(before);
      const Finished finished = folder.run(arguments);
      CHECK_MESSAGE(finished.code == one.exit_code, finished.err);
      CHECK(finished.out.starts_with(one.out));
      CHECK_MESSAGE(finished.err.find(one.err) != std::string::npos, finished.err);
      CHECK_FALSE(fs::exists(folder.path() + "/runs"));
    }
  }
  CHECK(folder.run({"--sed", "7", "-e", "print(1)"}).code == 2);
  CHECK(folder.run({"--seed", "7"}).err.find("-e CODE expected after the flags") != std::string::npos);
}

TEST_CASE("what is no flag of lunagrad run is the line's, and so is all after --") {
  const Folder folder;
  const char* const code = "print(...) print(#arg)";
  CHECK(folder.run({"-e", code, "a", "--own", "3", "-b", "-5", "-h", "--help"}).out ==
        "a\t--own\t3\t-b\t-5\t-h\t--help\n7\n");
  CHECK(folder.run({"-e", code, "--seed", "1", "a", "--", "--seed", "2", "--"}).out ==
        "a\t--seed\t2\t--\n4\n");
  CHECK(folder.run({"-e", code, "--"}).out == "\n0\n");
  CHECK(folder.run({"-e", code, ""}).out == "\n1\n");
}

TEST_CASE("flags about a run's folder make a line leave one behind") {
  const Folder folder;
  const std::string path = folder.path();
  CHECK(folder.run({"-e", kLineOfSteps, "--run-dir", "r"}).code == 0);
  CHECK(read_file(path + "/r/metrics.jsonl").find("\"loss\":3") != std::string::npos);
  CHECK(folder.run({"-e", kLineOfSteps, "--stop-at", "2", "--run-dir", "stopped"}).code == 130);
  const Finished resumed = folder.run({"-e", kLineOfSteps, "--resume", "stopped"});
  CHECK_MESSAGE(resumed.code == 0, resumed.err);
  CHECK(read_file(path + "/stopped/metrics.jsonl").find("\"resume\"") != std::string::npos);
  CHECK(folder.run({"--tensorboard", "-e", kLineOfSteps}).code == 0);
  CHECK(fs::exists(path + "/runs"));
  CHECK(folder.run({"-e", kLineOfSteps, "--profile", "trace.json"}).code == 0);
  CHECK(read_file(path + "/trace.json").find("traceEvents") != std::string::npos);
}

TEST_CASE("a lack of memory for Lua's values names the line and the limit") {
  if (lunagrad::tests::kSanitized) return;  // sanitizers change the memory that is counted
  const Folder folder;
  folder.write("module.lua",
               "return function()\n  local t = {}\n  for i = 1, 1e9 do\n    t[i] = {}\n  end\nend\n");
  struct Case {
    const char *code, *place;
  };
  for (const Case& one : {Case{"\nlocal t = {}\nfor i = 1, 1e9 do t[i] = {} end", "a.lua:3: "},
                          {"local s = 'x'\nwhile true do\n  s = s .. s\nend", "a.lua:3: "},
                          {"\n\n\n\nlocal s = ('x'):rep(1 << 30)", "a.lua:5: "},
                          {"local t = {}\nlocal function f(x)\n  t[#t + 1] = ('x'):rep(1000) .. x\n  return "
                           "f(x + 1)\nend\nf(1)",
                           "a.lua:3: "},
                          {"local fill = require 'module'\nfill()", "./module.lua:4: "},
                          {"local lg = require 'lunagrad'\nlocal x = lg.ones(2, {requires_grad = true})\n"
                           "x:register_hook(function()\n  local t = {}\n  while true do t = {t, t} "
                           "end\nend)\nx:sum():backward()",
                           "a.lua:7: "},
                          {"local run = coroutine.wrap(function()\n  local t = {}\n  while true do t[#t + 1] "
                           "= {} end\nend)\nrun()",
                           "a.lua:5: "}}) {
    CAPTURE(one.code);
    folder.write("a.lua", one.code);
    const Finished finished = folder.run({"run", "a.lua", "--memory", "32", "--progress", "none"});
    CHECK(finished.code == 8);
    CHECK_MESSAGE(finished.err.starts_with(one.place), finished.err);
    CHECK_MESSAGE(
        finished.err.find("not enough memory within the limit of 32 MiB (--memory)") != std::string::npos,
        finished.err);
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"-e", "local t = {} for i = 1, 1e9 do t[i] = {} end", "--memory", "48"},
        {"--memory", "48", "-e", "local t = {} for i = 1, 1e9 do t[i] = {} end"}}) {
    const Finished finished = folder.run(arguments);
    CHECK(finished.code == 8);
    CHECK(finished.err == "(command line):1: not enough memory within the limit of 48 MiB (--memory)\n");
  }
}
