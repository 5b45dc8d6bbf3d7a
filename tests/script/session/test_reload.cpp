// A reload: a changed script replaces the running one and keeps the states of lg.run.state.
#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/support/program.h"
#include "tests/support/recorder.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;
using namespace lunagrad::tests;
using lunagrad::test::Finished;
using lunagrad::test::Program;
using nlohmann::json;
using Kind = Event::Kind;

namespace {

// Weights, an optimizer's state, a schedule, dropout, random data and a table, over 30 steps.
const std::string kReloadedTraining = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
lg.manual_seed(3)
local width, rate = 16, lg.run.live("rate", 1e-2)
local layers = {nn.Linear(8, width), nn.Dropout(0.3), nn.Linear(width, 3)}
local model = lg.run.state("model", function() return nn.Sequential(table.unpack(layers)) end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.Adam(model:parameters(), {lr = 0.01}) end)
local schedule = lg.run.state("schedule", function() return lg.optim.lr_scheduler.StepLR(optimizer, 4, 0.9) end)
local seen = lg.run.state("seen", function() return {loss = 0.0, batches = 0, last = lg.zeros(3)} end)
for step in lg.run.steps(30) do
  local out = model(lg.randn(32, 8))
  local loss = F.cross_entropy(out, lg.randint(0, 3, {32}))
  optimizer:zero_grad() loss:backward() optimizer:step() schedule:step()
  seen.loss, seen.batches = seen.loss + loss:item(), seen.batches + 1
  seen.last:copy_(out[1]:detach())
  lg.run.log{loss = loss}
end
print(("%a"):format(seen.loss), seen.batches, seen.last:tolist()[1], optimizer.param_groups[1].lr, rate())
for _, p in ipairs(model:parameters()) do print(("%a"):format(p:double():square():sum():item())) end
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

// Runs `before` and reloads it as `after` when step `step` ends.
void run_and_reload(Recorder& recorder, const std::string& before, int64_t step, const std::string& after,
                    RunOptions options = {}) {
  recorder.also = [&recorder, step, after, done = false](const Event& event) mutable {
    if (done || event.kind != Kind::step || event.step != step) return;
    done = true;
    recorder.session.reload(after);
  };
  if (options.run_directory.empty()) options.write_run = false;
  recorder.session.run_text(before, "test", options);
  recorder.session.wait();
}

std::vector<int64_t> steps(Recorder& recorder) {
  std::vector<int64_t> list;
  for (const Event& event : recorder.events(Kind::step))
    if (list.empty() || list.back() != event.step) list.push_back(event.step);
  return list;
}

}  // namespace

TEST_CASE("a run with a reload gives bitwise the same numbers as one without") {
  Recorder whole, reloaded;
  REQUIRE(whole.finish(kReloadedTraining) == Outcome::ok);
  run_and_reload(reloaded, kReloadedTraining, 13, kReloadedTraining + "print('changed')\n");
  CHECK(reloaded.error() == "");
  CHECK(reloaded.output() == whole.output() + "changed\n");
  CHECK(steps(reloaded) == steps(whole));
  CHECK(reloaded.texts(Kind::reload) == "kept model, optimizer, schedule, seen\n");
  CHECK(reloaded.events(Kind::reload)[0].step == 13);
  CHECK(reloaded.events(Kind::ended).size() == 1);
  CHECK(reloaded.texts(Kind::warning) == "");
}

TEST_CASE("an interactive run tells which texts it loads, and after which steps") {
  const std::string changed = kReloadedTraining + "-- changed\n";
  for (const bool interactive : {true, false}) {
    Recorder recorder;
    run_and_reload(recorder, kReloadedTraining, 13, changed, {.interactive = interactive});
    CHECK(recorder.error() == "");
    const std::vector<Event> sources = recorder.events(Kind::source);
    REQUIRE(sources.size() == (interactive ? 2 : 0));
    if (!interactive) continue;
    CHECK(sources[0].text == kReloadedTraining);
    CHECK(sources[0].step == 0);
    CHECK(sources[0].place.file == "test");
    CHECK(sources[1].text == changed);
    CHECK(sources[1].step == 13);
  }
}

TEST_CASE("a script that does not compile is refused, and the running one continues") {
  Recorder whole, recorder;
  REQUIRE(whole.finish(kReloadedTraining) == Outcome::ok);
  run_and_reload(recorder, kReloadedTraining, 5, "local x = = 1");
  CHECK(recorder.output() == whole.output());
  const std::vector<Event> errors = recorder.events(Kind::error);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].text == "test:1: unexpected symbol near '='\nnot reloaded; the script goes on as it was");
  CHECK(errors[0].place.line == 1);
  CHECK(recorder.events(Kind::reload).empty());
  CHECK(recorder.events(Kind::ended).back().outcome == Outcome::ok);
}

TEST_CASE("states that do not fit are reset and reported, the rest is kept") {
  Recorder recorder;
  std::string after = replaced(kReloadedTraining, "width, rate = 16", "width, rate = 24");
  after = replaced(after, "nn.Dropout(0.3), ", "nn.Dropout(0.3), nn.Linear(width, width), nn.Tanh(), ");
  after = replaced(after, "last = lg.zeros(3)", "last = lg.zeros(3), more = 1");
  after = replaced(after,
                   "local schedule = lg.run.state(\"schedule\", function() return "
                   "lg.optim.lr_scheduler.StepLR(optimizer, 4, 0.9) end)",
                   "local schedule = lg.run.state(\"other\", function() return "
                   "lg.optim.lr_scheduler.StepLR(optimizer, 4, 0.9) end)");
  run_and_reload(recorder, kReloadedTraining, 13, after);
  CHECK(recorder.error() == "");
  CHECK(recorder.texts(Kind::reload) == "kept in part model, optimizer, seen; new other; dropped schedule\n");
  const std::string warnings = recorder.texts(Kind::warning);
  CHECK(warnings.find("run.state: 'model' 0.weight: [24, 8] was [16, 8]; starts anew\n") !=
        std::string::npos);
  CHECK(warnings.find("run.state: 'model' 4.weight is new: [3, 24]\n") != std::string::npos);
  CHECK(warnings.find("run.state: 'optimizer' starts anew for model.0.weight [24, 8], ") !=
        std::string::npos);
  CHECK(warnings.find("run.state: 'seen.more' is new\n") != std::string::npos);
  CHECK(recorder.output().find("\t30\t") != std::string::npos);  // batches continued
}

TEST_CASE("an optimizer's state follows its parameters by identity, not by position") {
  const std::string before = R"(
    local lg = require "lunagrad"
    local params = lg.run.state("params", function()
      return {first = lg.ones(2):requires_grad_(), second = lg.ones(2):requires_grad_()}
    end)
    local list = {params.first, params.second}
    local optimizer = lg.run.state("optimizer", function() return lg.optim.SGD(list, {lr = 0.1, momentum = 0.9}) end)
    for step in lg.run.steps(4) do
      optimizer:zero_grad();
      (params.first * 1 + params.second * 10):sum():backward()
      optimizer:step()
    end
    local function momentum(p) return optimizer.state[p].momentum_buffer:tolist()[1] end
    print(momentum(params.first) < 5, momentum(params.second) > 20)
  )";
  Recorder recorder;
  run_and_reload(recorder, before, 3,
                 replaced(before, "{params.first, params.second}\n", "{params.second, params.first}\n"));
  CHECK(recorder.error() == "");
  CHECK(recorder.output() == "true\ttrue\n");
}

TEST_CASE("settings changed in the script take effect, others are kept") {
  Recorder recorder;
  const std::string before = R"(
    local lg = require "lunagrad"
    local edited, same, moved = lg.run.live("edited", 1), lg.run.live("same", 2), lg.run.live("moved", 3)
    local w = lg.ones(2):requires_grad_()
    local optimizer = lg.run.state("optimizer", function() return lg.optim.SGD({w}, {lr = 0.5, momentum = 0.9}) end)
    local t = lg.run.state("t", function() return {kept = 1, changed = 1} end)
    for step in lg.run.steps(4) do
      if step == 1 then t.kept, t.changed, optimizer.param_groups[1].momentum = 5, 5, 0.7 end
    end
    print(edited(), same(), moved(), optimizer.param_groups[1].lr, optimizer.param_groups[1].momentum, t.kept, t.changed)
  )";
  std::string after = replaced(before, "\"edited\", 1", "\"edited\", 10");
  after = replaced(after, "\"moved\", 3", "\"moved\", 30");
  after = replaced(after, "lr = 0.5", "lr = 0.25");
  after = replaced(after, "changed = 1", "changed = 7");
  recorder.also = [&](const Event& event) {
    if (event.kind != Kind::step) return;
    if (event.step == 1) recorder.session.set_param("edited", "100");
    if (event.step == 3 && recorder.events(Kind::step).size() == 4) recorder.session.reload(after);
  };
  recorder.finish(before);
  CHECK(recorder.error() == "");
  CHECK(recorder.output() == "100\t2\t30\t0.25\t0.7\t5\t7\n");
}

TEST_CASE("the states handed to a script that fails in its first step are kept for the next reload") {
  Recorder whole, recorder;
  REQUIRE(whole.finish(kReloadedTraining) == Outcome::ok);
  run_and_reload(recorder, kReloadedTraining, 13,
                 replaced(kReloadedTraining, "local out = model(", "seen.loss = 1e9 local out = modle("));
  CHECK(recorder.session.wait() == Outcome::error);
  CHECK(recorder.error().find("'modle'") != std::string::npos);
  CHECK(recorder.error().ends_with("\nthe state of step 13 is kept; a reload goes on from it"));
  recorder.session.reload("syntax error");
  CHECK(recorder.session.wait() == Outcome::error);
  CHECK(recorder.error().ends_with("\nnot reloaded"));
  recorder.session.reload("error('again')");
  CHECK(recorder.session.wait() == Outcome::error);
  recorder.session.reload(kReloadedTraining);
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output() == whole.output());
}

TEST_CASE("a run that failed inside a step continues after its last step; one that ended well starts again") {
  Recorder recorder;
  const std::string before = R"(
    local lg = require "lunagrad"
    local t = lg.run.state("t", function() return {steps = 0} end)
    for step in lg.run.steps(6) do
      if step == 4 then error("broken") end
      t.steps = t.steps + 1
    end
    print(t.steps)
  )";
  CHECK(recorder.finish(before) == Outcome::error);
  const std::string after = replaced(before, "error(\"broken\")", "print('mended')");
  recorder.session.reload(after);
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.texts(Kind::warning) ==
        "the run ended within step 4; it goes on after step 3 with the states as they were when it ended\n");
  CHECK(recorder.output() == "mended\n6\n");
  recorder.session.reload(after);
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output() == "mended\n6\nmended\n6\n");
  CHECK(recorder.texts(Kind::reload) == "kept t\nstarts anew\n");
}

TEST_CASE(
    "an interactive run goes on from its last good step after an error or NaN, bitwise as if without it") {
  Recorder whole;
  REQUIRE(whole.finish(kReloadedTraining) == Outcome::ok);
  const std::pair<const char*, Outcome> faults[] = {
      {"if step == 17 then out[1] = out[1] + missing.part end", Outcome::error},
      {"if step >= 17 then loss = loss * (0 / 0) end", Outcome::ok},
      {"if step == 17 then model[1].weight:detach():fill_(0) error('half a step') end", Outcome::error}};
  for (const auto& [fault, outcome] : faults) {
    CAPTURE(fault);
    Recorder recorder;
    RunOptions options;
    options.interactive = true;
    REQUIRE(recorder.finish(replaced(kReloadedTraining, "  optimizer:zero_grad()",
                                     std::string("  ") + fault + " optimizer:zero_grad()"),
                            options) == outcome);
    const size_t before = recorder.output().size();
    recorder.session.reload(kReloadedTraining);
    CHECK(recorder.session.wait() == Outcome::ok);
    CHECK(recorder.texts(Kind::warning).find("the run goes on after step ") != std::string::npos);
    CHECK(recorder.output().substr(before) == whole.output());
  }
}

TEST_CASE("a checkpoint of the last step is preferred to the states that an error left") {
  const lunagrad::test::Folder folder;
  Recorder recorder;
  const std::string before = R"(
    local lg = require "lunagrad"
    local t = lg.run.state("t", function() return {steps = 0} end)
    for step in lg.run.steps(6) do
      t.steps = t.steps + 1
      if step == 3 then lg.run.checkpoint() end
      if step == 4 then error("broken") end
    end
    print(t.steps)
  )";
  RunOptions options;
  options.run_directory = folder.path() + "/run";
  recorder.session.run_text(before, "test", options);
  CHECK(recorder.session.wait() == Outcome::error);
  recorder.session.reload(replaced(before, "error(\"broken\")", "print('mended')"));
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.texts(Kind::warning).starts_with("the run goes on from "));
  CHECK(recorder.output() == "mended\n6\n");
}

TEST_CASE("without registered states or steps a reload starts from the beginning") {
  Recorder recorder;
  run_and_reload(recorder, "local lg = require 'lunagrad' for i in lg.run.steps(4) do print(i) end", 2,
                 "local lg = require 'lunagrad' for i in lg.run.steps(1) do print('new', i) end");
  CHECK(recorder.output() == "1\n2\nnew\t1\n");
  CHECK(recorder.texts(Kind::reload) == "starts anew: nothing is registered with lg.run.state\n");

  recorder.run("print('go') while true do end");
  REQUIRE(recorder.printed("go"));
  recorder.session.reload("print('second')");
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output().ends_with("go\nsecond\n"));

  Recorder fresh;
  fresh.session.reload();  // nothing to reload
  CHECK(fresh.session.wait() == Outcome::ok);
  CHECK(fresh.events(Kind::error).empty());
}

TEST_CASE(
    "a reload while paused, amid a step or at its end, leaves the new script paused before its next step") {
  for (const bool at_end : {false, true}) {
    CAPTURE(at_end);
    Recorder recorder;
    const std::string script = R"(
      local lg = require "lunagrad"
      t = lg.run.state("t", function() return {steps = 0} end)
      for step in lg.run.steps() do
        t.steps = t.steps + 1
        if step == 2 then print("here") end
        while step == 2 and not leave do end
      end)";
    recorder.run(script);
    REQUIRE(recorder.pauses_after("here"));
    if (at_end) {
      recorder.session.step();
      CHECK(recorder.eval("leave = true"));
      REQUIRE(recorder.pauses_again());
      recorder.session.reload("syntax error");
      REQUIRE(recorder.saw(Kind::error));
      CHECK(recorder.session.state() == SessionState::paused);
    }
    recorder.session.reload("print('new') " + script);
    if (!at_end) CHECK(recorder.eval("leave = true"));
    REQUIRE(recorder.saw(Kind::reload));
    REQUIRE(recorder.pauses_again());
    CHECK(recorder.output() == "here\nnew\n");
    CHECK(recorder.eval("print('steps', t.steps)"));
    CHECK(recorder.output() == "here\nnew\nsteps\t2\n");
    recorder.session.stop();
    CHECK(recorder.session.wait() == Outcome::stopped);
  }
}

TEST_CASE("a stop drops a waiting reload") {
  Recorder recorder;
  recorder.run(
      "local lg = require 'lunagrad' for i in lg.run.steps() do print('go') while not leave do end end");
  REQUIRE(recorder.printed("go"));
  recorder.session.reload("print('reloaded')");
  recorder.session.interrupt();
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(recorder.output() == "go\n");
}

TEST_CASE("a reloaded run keeps its folder and records the reload; repro refuses it with the reason") {
  const lunagrad::test::Folder folder;
  const std::string run = folder.path() + "/run";
  {
    Recorder recorder;
    RunOptions options;
    options.run_directory = run;
    run_and_reload(recorder, kReloadedTraining, 13, kReloadedTraining + "-- changed", options);
    CHECK(recorder.error() == "");
    CHECK(recorder.events(Kind::run_folder).size() == 1);
  }
  CHECK(lunagrad::test::read_file(run + "/script.lua") == kReloadedTraining);
  CHECK(lunagrad::test::read_file(run + "/script-00000013.lua") == kReloadedTraining + "-- changed");
  const json config = json::parse(lunagrad::test::read_file(run + "/config.json"));
  CHECK(config["outcome"] == "ok");
  for (const char* copy : {"script.lua", "script-00000013.lua"}) CHECK(config["scripts"].contains(copy));
  CHECK(config["reloads"] == json::parse(R"([{"step": 13, "script": "script-00000013.lua"}])"));
  std::istringstream metrics(lunagrad::test::read_file(run + "/metrics.jsonl"));
  int rows = 0, notes = 0;
  double time = 0;
  for (std::string line; std::getline(metrics, line);) {
    const json row = json::parse(line);
    CHECK(row["time"].get<double>() >= time);
    time = row["time"];
    rows += row.contains("metrics");
    if (!row.contains("reload")) continue;
    ++notes;
    CHECK(row["step"] == 13);
    CHECK(rows == 13);
  }
  CHECK(rows == 30);
  CHECK(notes == 1);
  const Finished repro = folder.run({"repro", "run"});
  CHECK(repro.code == 6);
  CHECK(repro.err.find("a changed script went on after step 13") != std::string::npos);
}

TEST_CASE("run --watch reloads a changed script or module, and Ctrl-C ends it") {
  const lunagrad::test::Folder folder;
  folder.write("helper.lua", "return 'one'");
  const std::string script = R"(
local lg = require "lunagrad"
local helper = require "helper"
local t = lg.run.state("t", function() return {steps = 0} end)
for step in lg.run.steps() do
  t.steps = t.steps + 1
  if step % 50 == 0 then print(helper, "TEXT", step == t.steps) end
  local start = os.clock() while os.clock() - start < 0.001 do end
end
)";
  folder.write("train.lua", script);
  Program program({lunagrad::test::kProgram, "run", "--watch", "train.lua", "--run-dir", "run"}, "", {},
                  folder.path());
  REQUIRE(program.wrote("one\tTEXT\ttrue"));
  folder.write("train.lua", replaced(script, "TEXT", "changed"));
  REQUIRE(program.wrote("one\tchanged\ttrue"));
  CHECK(program.wrote(": kept t\n"));
  folder.write("helper.lua", "return");  // a partly written file
  folder.write("helper.new", "return 'two'");
  std::filesystem::rename(folder.path() + "/helper.new", folder.path() + "/helper.lua");
  REQUIRE(program.wrote("two\tchanged\ttrue"));
  folder.write("helper.lua", "return 'two' +");
  REQUIRE(program.wrote("not reloaded; the script goes on as it was"));
  folder.write("helper.lua", "error('broken')");
  REQUIRE(program.wrote("waiting for a change of train.lua"));
  folder.write("helper.lua", "return 'three'");
  REQUIRE(program.wrote("three\tchanged\ttrue"));
  program.signal(SIGINT);
  const Finished finished = program.finish();
  CHECK(finished.code == 130);
  CHECK(finished.out.find("false") == std::string::npos);
  CHECK(finished.err.find("checkpoint saved in run/checkpoints/step-") != std::string::npos);

  folder.write("train.lua", "print('short')");
  Program waiting({lunagrad::test::kProgram, "run", "--watch", "train.lua"}, "", {}, folder.path());
  REQUIRE(waiting.wrote("waiting for a change"));
  waiting.signal(SIGINT);
  CHECK(waiting.finish().code == 130);
}

TEST_SUITE_END();
