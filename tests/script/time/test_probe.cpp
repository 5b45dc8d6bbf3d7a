// Probes: values of expressions at the steps of a run, which they cannot change.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "script/run/record.h"
#include "script/time/probe_file.h"
#include "script/time/probe_watch.h"
#include "tests/script/time/trainings.h"
#include "tests/support/recorder.h"
#include "tests/support/sanitizers.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using lunagrad::test::Finished;
using lunagrad::test::Folder;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// The script, with the values of the probe logged from the start.
std::string logging(std::string source) {
  const std::string log = "lg.run.log {loss = loss}\n";
  source.insert(source.find(log) + log.size(), "  lg.run.log {norm = model:parameters()[1].grad:norm()}\n");
  return source;
}

int line_of(const std::string& source, const std::string& text) {
  const size_t at = source.find(text);
  return 1 + int(std::count(source.begin(), source.begin() + std::ptrdiff_t(at), '\n'));
}

}  // namespace

TEST_CASE("a probe reads what the script would have logged, bit for bit") {
  const Folder folder;
  for (const std::string& source : {kCnn, kGpt}) {
    const std::string name = std::to_string(source.size()), script = logging(source);
    folder.write("train.lua", script);
    REQUIRE(folder.run({"run", "train.lua", "--run-dir", name, "--keyframes", "64MiB"}).code == 0);
    const RunRecord run = read_run(folder.path() + "/" + name);
    const Finished whole = folder.run({"probe", name, "model:parameters()[1].grad:norm()", "--json"});
    CAPTURE(whole.err);
    REQUIRE(whole.code == 0);
    CHECK(rows_of(whole.out) == logged(run, "norm"));
    const Finished words = folder.run(
        {"probe", name, "norm of model:parameters()[1].grad", "--json", "--from", "20", "--to", "24"});
    const Rows all = logged(run, "norm");
    CHECK(rows_of(words.out) == Rows(all.begin() + 19, all.begin() + 24));
    const std::string line = std::to_string(line_of(script, "loss:backward()"));
    const Finished losses = folder.run({"probe", name, "loss", "--at", "train.lua:" + line, "--json"});
    CHECK(rows_of(losses.out) == logged(run, "loss"));
    const Finished same =
        folder.run({"probe", name, "loss", "--at", line, "--name", "loss at line", "--log"});
    CHECK(same.out.find("loss at line") != std::string::npos);
    const std::vector<ProbeRows> kept = read_probes(run.folder);
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].name == "loss at line");
    CHECK(kept[0].values == logged(run, "loss"));
  }
}

TEST_CASE("a probe that writes is an error that names what it writes") {
  const Folder folder;
  const std::string extra =
      "counter, tally = 0, {n = 0}\nlocal hidden = {k = 1}\n"
      "function bump() counter = counter + 1 return 1 end\n"
      "function note() tally.n = tally.n + 1 return 1 end\n"
      "function drop() tally.n = nil return 1 end\n"
      "local count = 0\nfunction enclosed() count = count + 1 return 1 end\n"
      "function deep() hidden.k = hidden.k + count return hidden.k end\nlocal rate";
  std::string source = kCnn;
  source.replace(source.find("local rate"), 10, extra);
  folder.write("train.lua", source);
  REQUIRE(folder.run({"run", "train.lua", "--steps", "6", "--run-dir", "a"}).code == 0);
  const auto refused = [&](const std::string& expression, const std::string& fact) {
    const Finished done = folder.run({"probe", "a", expression});
    CAPTURE(expression);
    CAPTURE(done.err);
    CHECK(done.code == 1);
    CHECK(done.out == "");
    CHECK(done.err.find(fact) != std::string::npos);
  };
  refused("model[1].weight:data():add_(1)", "add_");
  refused("lg.no_grad(function() model[1].weight:add_(1) return 1 end)", "add_");
  refused("(function() model[1].weight.grad = nil return 1 end)()", "grad");
  refused("(function() other = 3 return 1 end)()", "'other'");
  refused("bump()", "'counter'");
  refused("note()", "'tally.n'");
  refused("drop()", "'tally.n'");
  refused("enclosed()", "'count'");
  refused("(function() model:eval() return 1 end)()", "training");
  refused("(function() lg.run.log{a = 1} return 1 end)()", "run");
  refused("lg.rand(1)", "random numbers");
  refused("(function() model(lg.ones(1, 1, 8, 8)):sum():backward() return 1 end)()", "");
  refused("(function() optimizer:step() return 1 end)()", "");
  refused("model", "got a");
  refused("'text'", "got a string");
  refused("nil", "got a nil");
  refused("model[1].weight", "shape [4, 1, 3, 3]");
  refused("1, 2", "got 2 values");
  refused("1 +", "probe:1");
  refused("missing.field", "missing");
  CHECK(folder.run({"probe", "a", "deep()", "--json"}).code == 0);  // writes an equal value
}

TEST_CASE("a probe of a live run reads each step and leaves no trace") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kCnn);
  const MadeRun alone = make_run(script, folder.path() + "/alone");
  Rows rows;
  std::vector<std::string> errors;
  const MadeRun probed =
      make_run(script, folder.path() + "/probed", {}, [&](Session& session, const Event& event) {
        if (event.kind == Event::Kind::step && event.step == 10) {
          session.add_probe({0, "norm", "norm of model[1].weight.grad", {}});
          session.add_probe({0, "eval", "model:eval() and 1", {}});
          session.add_probe({0, "draw", "lg.rand(1)", {}});
        }
        if (event.kind != Event::Kind::probe) return;
        if (event.text.empty())
          rows.emplace_back(event.step, event.metrics[0].second);
        else
          errors.push_back(event.text);
      });
  CHECK(probed.fingerprints == alone.fingerprints);
  CHECK(rows.size() == 30);
  CHECK(rows.front().first == 11);
  CHECK(errors.size() == 2);  // each is switched off
  Session session([](const Event&) {});
  std::string why;
  CHECK(session.add_probe({0, "", "1 +", {}}, &why) == 0);
  CHECK(why.find("probe:1") != std::string::npos);
}

TEST_CASE("a probe is not evaluated before its first step") {
  const Folder folder;
  std::string source = kCnn;
  const std::string loop = "  local x, y = next_batch()\n";
  source.insert(source.find(loop),
                "  if step == 6 then late = {value = 0} end\n"
                "  if late then late.value = late.value + step end\n");
  folder.write("train.lua", source);
  REQUIRE(folder.run({"run", "train.lua", "--steps", "9", "--run-dir", "a"}).code == 0);
  const std::string line = std::to_string(line_of(source, loop) + 1);
  for (const std::vector<std::string>& at : {std::vector<std::string>{}, {"--at", line}}) {
    std::vector<std::string> command{"probe", "a", "late.value", "--json", "--from"};
    command.insert(command.end(), at.begin(), at.end());
    command.insert(command.begin() + 5, "6");
    const Finished whole = folder.run(command);
    CAPTURE(whole.err);
    CHECK(whole.code == 0);
    CHECK(rows_of(whole.out) == Rows{{6, 6}, {7, 13}, {8, 21}, {9, 30}});
    command[5] = "5";
    const Finished early = folder.run(command);
    CHECK(early.code == 1);
    CHECK(early.err.find("late.value, step 5: ") != std::string::npos);
    CHECK(early.out == "");
  }
}

TEST_CASE("probes of a script without lg.run.steps count as its log does") {
  const Folder folder;
  folder.write("train.lua",
               "local lg = require 'lunagrad'\nlocal w = lg.zeros(4):requires_grad_()\n"
               "local optimizer = lg.optim.SGD({w}, {lr = 0.1})\nfor i = 1, 6 do\n"
               "if i == 3 then late = {} end if late then late.value = i end\n"
               "local loss = (w - i):square():mean()\noptimizer:zero_grad() loss:backward()\n"
               "lg.run.log {i = i}\noptimizer:step()\nend\n");
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "a"}).code == 0);
  CHECK(logged(read_run(folder.path() + "/a"), "i") == Rows{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}});
  const Finished line = folder.run({"probe", "a", "late.value", "--at", "8", "--from", "2", "--json"});
  CAPTURE(line.err);
  CHECK(rows_of(line.out) == Rows{{2, 3}, {3, 4}, {4, 5}, {5, 6}});
  const Finished end = folder.run({"probe", "a", "late.value", "--from", "3", "--to", "5", "--json"});
  CAPTURE(end.err);
  CHECK(rows_of(end.out) == Rows{{3, 3}, {4, 4}, {5, 5}});
}

TEST_CASE("twenty probes over a run read what it would have logged from its start") {
  const Folder folder;
  const int64_t steps = long_run() ? 1000 : 60;
  std::string log = "  lg.run.log {";
  std::vector<std::string> expressions{"loss", "rate()", "step", "#x"};  // of the line before the log
  for (int i = 1; i <= 8; ++i) {
    const std::string p = "model:parameters()[" + std::to_string(1 + i % 6) + "]";
    expressions.push_back((i % 2 ? "norm of " : "max of ") + p + (i > 4 ? ".grad" : ""));
  }
  for (const char* more : {"std of x", "mean of x", "x[1][1][1][1]", "y:sum()", "min of loss", "#model",
                           "model[2].running_mean:sum()", "(x:norm() + loss) / step"})
    expressions.emplace_back(more);
  REQUIRE(expressions.size() == 20);
  for (size_t i = 0; i < expressions.size(); ++i)
    log += "e" + std::to_string(i) + " = (function() " + probe_code(expressions[i]) + " end)(), ";
  std::string source = kCnn;
  const std::string place = "  lg.run.log {loss = loss}\n";
  source.insert(source.find(place) + place.size(), log + "}\n  local at_end\n");
  folder.write("train.lua", source);
  const Finished run = folder.run(
      {"run", "train.lua", "--steps", std::to_string(steps), "--run-dir", "a", "--keyframes", "64MiB"});
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const RunRecord record = read_run(folder.path() + "/a");
  const std::string line = std::to_string(line_of(source, "  local at_end"));
  for (size_t i = 0; i < expressions.size(); ++i) {
    CAPTURE(expressions[i]);
    const Rows rows = logged(record, "e" + std::to_string(i));
    REQUIRE(int64_t(rows.size()) == steps);
    const Finished probed = folder.run({"probe", "a", expressions[i], "--at", line, "--json"});
    CAPTURE(probed.err);
    CHECK(rows_of(probed.out) == rows);
  }
}

TEST_CASE("a script that is not determined by its run is named with the step and what differs") {
  const Folder folder;
  const struct {
    const char *name, *noise;
  } scripts[] = {
      {"the time", "lg.clock() % 1"},
      {"math.random", "math.random()"},
      {"its input", "tonumber(io.read('l') or '0.5')"},
      {"a file that it writes itself",
       "(function() local f = io.open('own.txt') local n = f and f:read('n') or 0\n"
       "if f then f:close() end f = io.open('own.txt', 'w') f:write(n + 0.1) f:close() return n end)()"},
      {"another program",
       "(function() local p = io.popen('date +%N') local n = p:read('n') p:close()\n"
       "return n / 1e9 end)()"},
  };
  for (const auto& [name, noise] : scripts) {
    CAPTURE(name);
    folder.write("train.lua",
                 "local lg = require 'lunagrad'\n"
                 "local w = lg.run.state('w', function() return lg.zeros(4):requires_grad_() end)\n"
                 "for step in lg.run.steps(8) do\nlocal noise = 0\nif step > 4 then noise = " +
                     std::string(noise) +
                     " end\nlocal loss = (w - 1 - noise):square():mean()\nw.grad = nil\nloss:backward()\n"
                     "lg.no_grad(function() w:sub_(w.grad * 0.1) end)\nlg.run.log {loss = loss}\nend\n");
    fs::remove_all(folder.path() + "/a");
    // No keyframes: from one after step 5, fork would have nothing to repeat that differs.
    const Finished run = folder.run({"run", "train.lua", "--run-dir", "a"}, "0.1\n0.2\n0.3\n0.4\n");
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    // Lua's seed is an address, which a sanitizer repeats, and the time in seconds.
    if (kSanitized && std::string(name) == "math.random")
      std::this_thread::sleep_for(std::chrono::seconds(1));
    for (const std::vector<std::string>& command : {std::vector<std::string>{"probe", "a", "norm of w"},
                                                    {"fork", "a", "--step", "6", "--run-dir", "b"},
                                                    {"tape", "diff", "a:3", "a:6"}}) {
      CAPTURE(command[0]);
      const Finished again = folder.run(command);
      CAPTURE(again.err);
      CHECK(again.code == (command[0] == "tape" ? 6 : 1));
      CHECK(again.out == "");
      CHECK(again.err.find("differs from the run at step 5: loss is ") != std::string::npos);
      CHECK(!fs::exists(folder.path() + "/b"));
    }
  }
}

TEST_CASE("a replay that differs names the data that have changed") {
  const Folder folder;
  folder.write("train.lua",
               "local lg = require 'lunagrad'\nlocal scale = 0\n"
               "for line in io.lines('scale.txt') do scale = scale + tonumber(line) end\n"
               "for step in lg.run.steps(3) do lg.run.log {loss = scale * step} end\n");
  folder.write("scale.txt", "2\n");
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "a"}).code == 0);
  REQUIRE(folder.run({"probe", "a", "scale"}).code == 0);
  folder.write("scale.txt", "2.5\n");
  const Finished changed = folder.run({"probe", "a", "scale"});
  CAPTURE(changed.err);
  CHECK(changed.code == 1);
  CHECK(changed.err.find("loss is 2.5, was 2; scale.txt has changed since the run read it") !=
        std::string::npos);
}

TEST_CASE("wrong places and steps of a probe") {
  const Folder folder;
  folder.write("train.lua", kCnn);
  REQUIRE(folder.run({"run", "train.lua", "--steps", "4", "--run-dir", "a"}).code == 0);
  const auto fails = [&](std::vector<std::string> arguments, const std::string& fact) {
    arguments.insert(arguments.begin(), {"probe", "a", "1"});
    const Finished done = folder.run(arguments);
    CAPTURE(done.err);
    CHECK(done.code == 1);
    CHECK(done.err.find(fact) != std::string::npos);
  };
  CHECK(folder.run({"probe", "a", "1", "--at", "x"}).err ==
        "lunagrad probe: --at x: LINE or FILE:LINE expected, such as train.lua:12\n");
  CHECK(folder.run({"probe", "a", "1", "--at", "train.lua:0"}).code == 2);
  fails({"--at", "other.lua:3"}, "was not reached");
  fails({"--from", "3", "--to", "9"}, "steps 3 to 9: the run a has the steps 1 to 4");
  fails({"--from", "3", "--to", "2"}, "steps 3 to 2");
  CHECK(folder.run({"probe", "none", "1"}).code == 6);
}
