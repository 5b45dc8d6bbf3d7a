// A run that continues after a stop, a reload or in a fork ends with the bits of an undisturbed run: every
// optimizer under every schedule, with averages, scaled, accumulated and clipped gradients, after each of ten
// steps. going_on.lua is the training.
#include <doctest/doctest.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "folders.h"
#include "script/run/record.h"
#include "script/time/fork.h"
#include "tests/support/program.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using lunagrad::test::Folder;
using lunagrad::test::read_file;

namespace {

constexpr int64_t kSteps = 10;
using Set = std::map<std::string, std::string>;
using Lines = std::vector<std::string>;

const std::string& training() {
  static const std::string text = read_file(LUNAGRAD_SOURCE_DIR "/tests/script/run/going_on.lua");
  return text;
}

// The printed lines of the steps after `step`.
Lines lines_behind(const std::string& output, int64_t step) {
  Lines lines;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);)
    if (std::isdigit(static_cast<unsigned char>(line[0])) && std::stoll(line) > step) lines.push_back(line);
  return lines;
}

struct Disturbed {
  Lines lines;
  std::string problem;  // an error or a warning
};

Disturbed ended(Recorder& recorder, int64_t step) {
  return {lines_behind(recorder.output(), step), recorder.error() + recorder.texts(Event::Kind::warning)};
}

class Undisturbed {
 public:
  explicit Undisturbed(Set set) : set_(std::move(set)) {
    Recorder recorder;
    recorder.session.run_file(folder_.write("train.lua", training()), options("whole", true));
    outcome = recorder.session.wait();
    problem = ended(recorder, 0).problem;
    lines = lines_behind(recorder.output(), 0);
  }

  Disturbed resumed(int64_t step) const {
    char name[64];
    std::snprintf(name, sizeof name, "/whole/checkpoints/step-%08d.safetensors", int(step));
    Recorder recorder;
    RunOptions options = this->options("", false);
    options.resume = folder_.path() + name;
    recorder.finish(training(), options);
    return ended(recorder, step);
  }

  // Reloaded after every step; `text` maps the number of a step to the script that takes over.
  Disturbed reloaded(const std::function<std::string(int64_t)>& text) const {
    Recorder recorder;
    int64_t last = 0;
    recorder.also = [&](const Event& event) {
      if (event.kind != Event::Kind::step || event.step <= last || event.step == kSteps) return;
      last = event.step;
      recorder.session.reload(text(event.step));
    };
    recorder.finish(training(), options("", false));
    return ended(recorder, 0);
  }

  Disturbed forked(int64_t step) const {
    Replay replay(folder_.path() + "/whole", {});
    const KeyframePtr states = states_for_fork(replay, step);
    RunOptions options = options_of_fork(replay.timeline(), states, {.step = step});
    options.run_directory = folder_.path() + "/fork" + std::to_string(step);
    begin_fork(options);
    Recorder recorder;
    recorder.session.run_file(folder_.path() + "/train.lua", options);
    recorder.session.wait();
    return ended(recorder, step);
  }

  Outcome outcome;
  std::string problem;
  Lines lines;

 private:
  RunOptions options(const std::string& folder, bool writes) const {
    RunOptions options;
    options.set = set_;
    options.set["save"] = writes ? "true" : "false";
    options.write_run = writes;
    if (writes) options.run_directory = folder_.path() + "/" + folder, options.keyframes = size_t(64) << 20;
    return options;
  }

  Folder folder_;
  Set set_;
};

// The number of lines that differ. A line is a step of a training with one schedule.
int64_t differing(const Lines& whole, const Disturbed& disturbed, int64_t step) {
  int64_t count = 0;
  size_t at = 0;
  for (const std::string& line : whole) {
    if (std::stoll(line) <= step) continue;
    const bool same = at < disturbed.lines.size() && disturbed.lines[at] == line;
    if (!same && ++count == 1) {
      const std::string found = at < disturbed.lines.size() ? disturbed.lines[at] : "no line";
      MESSAGE("after step ", step, " first differs:\n", line, "\n", found);
    }
    ++at;
  }
  return count + std::max<int64_t>(int64_t(disturbed.lines.size()) - int64_t(at), 0);
}

const bool kAll = std::getenv("LUNAGRAD_TEST_ALL");

void check_all(const Set& set) {
  std::string shown;
  for (const auto& [name, value] : set) shown += " " + name + "=" + value;
  CAPTURE(shown);
  const Undisturbed whole(set);
  CHECK(whole.problem == "");
  REQUIRE(whole.outcome == Outcome::ok);
  const auto check = [&](const Disturbed& found, int64_t step) {
    CAPTURE(step);
    CHECK(found.problem == "");
    CHECK(differing(whole.lines, found, step) == 0);
  };
  for (const int64_t step :
       kAll ? std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9} : std::vector<int64_t>{1, 4, 7})
    check(whole.resumed(step), step);
  for (const int64_t step : kAll ? std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9} : std::vector<int64_t>{5})
    check(whole.forked(step), step);
  check(whole.reloaded([](int64_t step) { return training() + "-- changed after " + std::to_string(step); }),
        0);
  if (kAll) check(whole.reloaded([](int64_t) { return training(); }), 0);  // what --watch does at a save
}

const char* const kOptimizers[] = {"SGD",     "Adam",    "AdamW",    "NAdam", "RAdam", "Adamax",
                                   "RMSprop", "Adagrad", "Adadelta", "Lion",  "ASGD",  "Adafactor",
                                   "Muon",    "LAMB",    "Rprop",    "LBFGS"};
const char* const kWith[] = {"none", "SWA", "EMA", "GradScaler", "accumulation", "clipping"};

bool fits(const std::string& optimizer, const std::string& with) {
  return optimizer != "LBFGS" || (with != "GradScaler" && with != "accumulation");  // its closure clears them
}

}  // namespace

TEST_CASE("a disturbed run has the bits of an undisturbed one: optimizers, schedules, averages, scalers") {
  if (kAll) {
    for (const std::string optimizer : kOptimizers)
      for (const std::string with : kWith)
        if (fits(optimizer, with)) check_all({{"optimizer", optimizer}, {"with", with}});
  } else {
    check_all({{"optimizer", "SGD"}, {"with", "accumulation"}});
    check_all({{"optimizer", "Adam"}, {"with", "GradScaler"}});
  }
}

TEST_CASE("a disturbed run has the bits of an undisturbed one, in whatever order its states are registered") {
  check_all({{"optimizer", "SGD"}, {"with", "EMA"}, {"order", "schedule_first"}});
  check_all({{"optimizer", "SGD"}, {"with", "SWA"}, {"order", "between"}});
  if (!kAll) return;
  for (const std::string order : {"schedule_first", "between", "together"})
    for (const std::string with : kWith) check_all({{"optimizer", "Adam"}, {"with", with}, {"order", order}});
  check_all({{"optimizer", "SGD"}, {"live", "true"}});
}

namespace {

// A training with the lines `made`, which make `optimizer` and `step_more`, stopped after 4 of 8 steps and
// resumed.
struct Halves {
  std::string whole, parts, warnings, problem;
};

Halves halves(const std::string& made, const std::string& added_later = "") {
  const std::string before = R"(
    local lg = require "lunagrad"
    local nn, S = lg.nn, lg.optim.lr_scheduler
    local net = lg.run.state("net", function() return nn.Linear(2, 2) end)
    local optimizer, step_more
  )";
  const std::string after = R"(
    for step in lg.run.steps(8) do
      optimizer:zero_grad() net(lg.ones(3, 2)):square():sum():backward() optimizer:step()
      if step_more then step_more() end
      print(step, optimizer.param_groups[1].lr, ("%a"):format(net.weight:detach():double():sum():item()))
      if step == 4 then lg.run.checkpoint() end
    end
  )";
  const Folder folder;
  const auto run = [&](const std::string& code, const std::string& name, int64_t steps, Halves& found) {
    Recorder recorder;
    RunOptions options;
    options.run_directory = folder.path() + "/" + name;
    options.steps = steps;
    recorder.session.run_text(code, "test", options);
    recorder.session.wait();
    found.warnings += recorder.texts(Event::Kind::warning);
    found.problem += recorder.error();
    return recorder.output();
  };
  Halves found;
  Halves undisturbed;
  found.whole = run(before + made + after, "whole", 8, undisturbed);
  found.parts = run(before + made + after, "parts", 4, found);
  RunOptions options;
  options.resume = folder.path() + "/parts";
  Recorder recorder;
  recorder.finish(before + made + added_later + after, options);
  found.parts += recorder.output();
  found.warnings += recorder.texts(Event::Kind::warning);
  found.problem += recorder.error();
  return found;
}

const std::string kSgd =
    "optimizer = lg.run.state('optimizer', function() return lg.optim.SGD(net:parameters(), {lr = 0.1, "
    "momentum = 0.9}) "
    "end)\n";

}  // namespace

TEST_CASE("what the script does between its states and the first step is done in the first run alone") {
  for (const std::string& made : {
           kSgd + "nn.init.ones_(net.weight) optimizer.param_groups[1].lr = 0.05",
           kSgd + "local schedule = S.LinearLR(optimizer, 0.1, 1, 6) lg.run.state('s', function() return "
                  "schedule end) "
                  "step_more = function() schedule:step() end",
           kSgd + "local a = lg.run.state('a', function() return S.LinearLR(optimizer, 0.1, 1, 3) end) "
                  "local b = lg.run.state('b', function() return S.ExponentialLR(optimizer, 0.5) end) "
                  "local c = lg.run.state('c', function() return S.SequentialLR(optimizer, {a, b}, {3}) end) "
                  "step_more = function() c:step() end",
           // An object of the script's own holds the optimizer.
           std::string("local T = {} T.__index = T function T:state_dict() return self.o:state_dict() end "
                       "function T:load_state_dict(s) self.o:load_state_dict(s) end "
                       "local t = lg.run.state('t', function() return setmetatable({o = "
                       "lg.optim.Adam(net:parameters())}, T) end) "
                       "optimizer = t.o "
                       "local s = lg.run.state('s', function() return S.LinearLR(t.o, 0.1, 1, 6) end) "
                       "step_more = function() s:step() end"),
           // A constructor that initializes a weight which it shares.
           kSgd + "lg.run.state('tied', function() nn.init.zeros_(net.weight) return {1} end)",
       }) {
    CAPTURE(made);
    const Halves found = halves(made);
    CHECK(found.problem == "");
    CHECK(found.warnings == "");
    CHECK(found.parts == found.whole);
  }
}

TEST_CASE("a change that only the resumed run makes is kept, and a schedule that is new there begins") {
  const Halves slower = halves(kSgd, "optimizer.param_groups[1].lr = 0.01");
  CHECK(slower.problem == "");
  CHECK(slower.parts.find("\n5\t0.01\t") != std::string::npos);
  CHECK(slower.parts.find("\n8\t0.01\t") != std::string::npos);
  const Halves warmed =
      halves(kSgd,
             "local s = lg.run.state('s', function() return S.ConstantLR(optimizer, 0.5, 2) end) "
             "step_more = function() s:step() end");
  CHECK(warmed.warnings == "run.state: 's' is new, the checkpoint has none\n");
  CHECK(warmed.parts.find("\n5\t0.05\t") != std::string::npos);
  CHECK(warmed.parts.find("\n6\t0.1\t") != std::string::npos);
  CHECK(warmed.problem == "");
}

TEST_CASE("what is in use and not registered is named when a checkpoint is written and when it is resumed") {
  const auto named = [](const std::string& made, const std::string& what) {
    CAPTURE(made);
    const Halves found = halves(made);
    CHECK(found.problem == "");
    CHECK(found.warnings.find("run.checkpoint: " + what + " not registered, so a resumed run begins ") !=
          std::string::npos);
    CHECK(found.warnings.find("run.resume: this checkpoint does not hold " +
                              what.substr(0, what.rfind(' '))) != std::string::npos);
  };
  const std::string rate = "step_more = function() s:step() end";
  named(kSgd + "local s = S.LinearLR(optimizer, 0.1, 1, 6) " + rate, "LinearLR is");
  named(
      "optimizer = lg.optim.SGD(net:parameters(), {lr = 0.1}) "
      "local s = lg.run.state('s', function() return S.LinearLR(optimizer, 0.1, 1, 6) end) " +
          rate,
      "SGD is");
  named(
      "optimizer = lg.optim.Adam(net:parameters()) local e = lg.optim.EMA(net) step_more = function() "
      "e:update() end",
      "Adam, EMA are");
  named(kSgd +
            "local m = lg.optim.swa_utils.AveragedModel(net) step_more = function() m:update_parameters(net) "
            "end",
        "AveragedModel is");
  // No warning for optimizers and schedules without memory, nor for optimizers of other parameters.
  for (const std::string& made :
       {std::string("optimizer = lg.optim.SGD(net:parameters(), {lr = 0.1})"),
        kSgd + "local q = lg.zeros(2):requires_grad_() local o = lg.optim.Adam {q} "
               "step_more = function() o:zero_grad() q:square():sum():backward() o:step() end",
        kSgd + "step_more = function() if not lg.schedule then S.LinearLR(optimizer, 0.1, 1, 6):step() end "
               "optimizer.param_groups[1].lr = 0.1 end"}) {
    const Halves found = halves(made);
    CHECK(found.warnings == "");
    CHECK(found.parts == found.whole);
  }
}

TEST_CASE("the examples go on with the numbers of a run that nobody stopped") {
  const std::string text = LUNAGRAD_SOURCE_DIR "/README.md";
  const std::vector<std::vector<std::string>> examples = {
      {"04_digits_mlp"},
      {"06_char_lm", "--set", "written=0", "--set", "width=16", "--", text},
      {"07_transformer", "--set", "written=0", "--set", "width=16", "--", text},
      {"08_autoencoder"},
      {"09_vae"},
      {"10_custom_op"},
      {"12_resume"}};
  const Folder folder;
  for (const std::vector<std::string>& example : examples) {
    CAPTURE(example[0]);
    const auto run = [&](int code, std::vector<std::string> options) {
      std::vector<std::string> line = {"run", LUNAGRAD_SOURCE_DIR "/examples/" + example[0] + ".lua"};
      line.insert(line.end(), {"--steps", "12"});
      line.insert(line.end(), options.begin(), options.end());
      line.insert(line.end(), example.begin() + 1, example.end());
      const test::Finished ended = folder.run(line);
      CHECK(ended.code == code);
      CHECK(ended.err.find("warning:") == std::string::npos);
    };
    const std::string whole = example[0] + "-whole", stopped = example[0] + "-stopped";
    run(0, {"--run-dir", whole});
    run(130, {"--run-dir", stopped, "--stop-at", "5"});
    run(0, {"--resume", stopped});
    const RunRecord a = read_run(folder.path() + "/" + whole), b = read_run(folder.path() + "/" + stopped);
    CHECK(!a.metrics.empty());
    for (const auto& [name, points] : a.metrics) {
      CAPTURE(name);
      const auto found = b.metrics.find(name);
      REQUIRE(found != b.metrics.end());
      REQUIRE(found->second.size() == points.size());
      for (size_t i = 0; i < points.size(); ++i) CHECK(found->second[i].value == points[i].value);
    }
  }
}
