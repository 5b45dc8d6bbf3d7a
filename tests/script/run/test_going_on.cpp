// A run that goes on, after a stop, a reload or in a fork, ends with the bits of one that nobody disturbed:
// every optimizer under every schedule, with averages, scaled, accumulated and clipped gradients, after each
// of ten steps. going_on.lua is the training.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <sstream>

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

// The printed lines of the steps behind `step`.
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

  // Reloaded after every step; `text` is the number of a step to the text that takes over.
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

// How many lines differ: a step of a training with one schedule.
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
