// Replays: any step of a run again, in a session of its own, with the same bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <tuple>
#include <utility>

#include "folders.h"
#include "script/time/keyframe_folder.h"
#include "script/time/memory_keyframes.h"
#include "tests/script/time/trainings.h"
#include "tests/support/message_of.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using lunagrad::test::Folder;
namespace fs = std::filesystem;

namespace {

std::vector<int64_t> random_steps(int64_t last, int count) {
  std::mt19937 random(7);
  std::vector<int64_t> steps{1, last};
  while (int(steps.size()) < count) steps.push_back(1 + int64_t(random() % uint64_t(last)));
  return steps;
}

// Keyframes of steps 1, 5, 10, 15 …, whatever they cost.
class EachFifth final : public KeyframeSink, public KeyframeSource {
 public:
  void begin(int64_t) override {}
  bool wants(int64_t step) override { return step == 1 || step % 5 == 0; }
  void take(KeyframePtr keyframe, uint64_t) override { frames_[keyframe->step] = std::move(keyframe); }
  KeyframePtr latest(int64_t first, int64_t last) override {
    const auto after = frames_.upper_bound(last);
    return after == frames_.begin() || std::prev(after)->first < first ? nullptr : std::prev(after)->second;
  }
  std::vector<int64_t> steps() const override {
    std::vector<int64_t> steps;
    for (const auto& [step, keyframe] : frames_) steps.push_back(step);
    return steps;
  }

 private:
  std::map<int64_t, KeyframePtr> frames_;
};

// A run of `source` with these keyframes.
struct KeptRun {
  explicit KeptRun(const std::string& source) {
    RunOptions options;
    options.keyframe_sink = memory;
    made = make_run(folder.write("train.lua", source), folder.path() + "/run", options);
    REQUIRE(made.outcome == Outcome::ok);
  }

  const Folder folder;
  const std::shared_ptr<EachFifth> memory = std::make_shared<EachFifth>();
  MadeRun made;
};

void check_scrub(const MadeRun& made, Scrubber& scrubber, int count) {
  for (const int64_t step : random_steps(scrubber.replay.steps(), count)) {
    CAPTURE(step);
    CHECK(scrubber.fingerprint(step) == made.fingerprints.at(step));
    const auto tape = scrubber.replay.session().tape(step);
    REQUIRE(tape);
    CHECK(tape->nodes.size() > 10);
    const std::optional<Difference> differs = scrubber.replay.difference();
    CHECK_MESSAGE(!differs, (differs ? differs->what : ""));
  }
}

}  // namespace

TEST_CASE(
    "a replay stops at any step with the bits of the run, from files, from memory and from the first step") {
  const Folder folder;
  for (const std::string& source : {kCnn, kGpt}) {
    const std::string script = folder.write("train.lua", source);
    auto memory = std::make_shared<EachFifth>();
    RunOptions options;
    options.keyframe_sink = memory;
    options.edits = {{7, "rate", "0.03"}, {12, "rate", "0.002"}};
    const std::string place = folder.path() + "/run" + std::to_string(source.size());
    const MadeRun made = make_run(script, place, options);
    REQUIRE(made.outcome == Outcome::ok);
    REQUIRE(memory->steps().size() > 5);
    for (const int64_t step : memory->steps()) write_keyframe(place, *memory->latest(step, step));
    {
      Scrubber from_memory(place, memory);
      check_scrub(made, from_memory, 8);
      CHECK(from_memory.warnings.empty());
    }
    Scrubber from_files(place);
    check_scrub(made, from_files, 5);
    CHECK(from_files.warnings.empty());
    fs::remove_all(place + "/keyframes");
    Scrubber from_the_beginning(place);
    check_scrub(made, from_the_beginning, 4);
    CHECK(from_the_beginning.warnings.size() == 1);  // warned once
    CHECK(from_the_beginning.replay.began_at() == 0);
  }
}

TEST_CASE("a replay follows reloads and repeats console lines at their places") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kCnn);
  const std::string changed =
      replaced(kCnn, "local loss = nn", "if step > 12 then x = x * 1.5 end\n  local loss = nn");
  auto memory = std::make_shared<EachFifth>();
  for (const bool with_keyframes : {true, false}) {
    RunOptions options;
    if (with_keyframes) options.keyframe_sink = memory;
    const std::string place = folder.path() + (with_keyframes ? "/kept" : "/bare");
    bool reloaded = false;  // the changed script is at step 9, too
    const MadeRun made = make_run(script, place, options, [&](Session& session, const Event& event) {
      if (event.kind != Event::Kind::step) return;
      if (event.step == 9 && !std::exchange(reloaded, true)) session.reload(changed);
      if (event.step == 20) session.eval("lg.no_grad(function() model[1].weight:mul_(0.5) end)");
      if (event.step == 25) session.eval("lg.no_grad(function() model[6].bias:add_(1) end)");
    });
    REQUIRE(made.outcome == Outcome::ok);
    Scrubber scrubber(place, with_keyframes ? memory : nullptr);
    CHECK(scrubber.replay.timeline().console.size() == 2);
    CHECK(scrubber.replay.timeline().spans.size() == 2);
    for (const int64_t step : {9, 10, 21, 8, 26, 40, 1}) {
      CAPTURE(step);
      CHECK(scrubber.fingerprint(step) == made.fingerprints.at(step));
    }
    CHECK(!scrubber.replay.difference());
  }
}

TEST_CASE("a console line inside a step is repeated after the same op") {
  const Folder folder;
  const std::string script = folder.write(
      "train.lua", replaced(kCnn, "  loss:backward()", "  lg.run.breakpoint(step == 5)\n  loss:backward()"));
  RunOptions options;
  options.interactive = true;
  const std::string place = folder.path() + "/run";
  const MadeRun made = make_run(script, place, options, [&](Session& session, const Event& event) {
    if (event.kind != Event::Kind::state || event.state != SessionState::paused) return;
    session.eval("loss = loss * 3");
    session.resume();
  });
  REQUIRE(made.outcome == Outcome::ok);
  Scrubber scrubber(place);
  REQUIRE(scrubber.replay.timeline().console.size() == 1);
  CHECK(scrubber.replay.timeline().console[0].place == SafePlace::midst);
  CHECK(scrubber.fingerprint(6) == made.fingerprints.at(6));
  CHECK(scrubber.fingerprint(5) == made.fingerprints.at(5));
}

TEST_CASE("a run that goes on is replayed beside it") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kCnn), place = folder.path() + "/run";
  auto memory = std::make_shared<MemoryKeyframes>(size_t(64) << 20);
  RunOptions options;
  options.keyframe_sink = memory;
  std::map<int64_t, std::string> seen;
  const MadeRun made = make_run(script, place, options, [&](Session&, const Event& event) {
    if (event.kind != Event::Kind::step || event.step != 25) return;
    Scrubber scrubber(place, memory);  // its session has a thread of its own
    for (const int64_t step : {24, 3, 17}) seen[step] = scrubber.fingerprint(step);
    CHECK(!scrubber.replay.difference());
    CHECK(message_of([&] { scrubber.replay.go_to(26); }).find("1 to 25") != std::string::npos);
  });
  CHECK(seen.size() == 3);
  for (const auto& [step, fingerprint] : seen) CHECK(fingerprint == made.fingerprints.at(step));
  CHECK(made.fingerprints.size() == 40);
}

TEST_CASE("a run that was resumed is replayed from its checkpoint") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kGpt), place = folder.path() + "/run";
  make_run(script, place, {}, [](Session& session, const Event& event) {
    if (event.kind == Event::Kind::step && event.step == 11) session.stop();
  });
  RunOptions options;
  options.resume = place;
  const MadeRun made = make_run(script, "", options);
  REQUIRE(made.outcome == Outcome::ok);
  Scrubber scrubber(place);
  CHECK(scrubber.fingerprint(20) == made.fingerprints.at(20));
  CHECK(scrubber.replay.began_at() == 11);
}

TEST_CASE("the files of a script may change after the run") {
  const Folder folder;
  folder.write("scale.lua", "return {by = 1.5}");
  const std::string source = replaced(kCnn, "local rate", "local scale = require 'scale'\nlocal rate");
  const std::string script =
      folder.write("train.lua", replaced(source, "forward(x)", "forward(x * scale.by)"));
  const MadeRun made = make_run(script, folder.path() + "/run");
  REQUIRE(made.outcome == Outcome::ok);
  folder.write("scale.lua", "return {by = 0.5}");
  folder.write("train.lua", "error('another script')");
  Scrubber scrubber(made.folder);
  CHECK(scrubber.fingerprint(17) == made.fingerprints.at(17));
  CHECK(!scrubber.replay.difference());
}

TEST_CASE("the folder of a run tells which text of the script and its modules each step ran") {
  const Folder folder;
  const std::string module = folder.write("scale.lua", "return {by = 1.5}");
  const std::string with_module = replaced(kCnn, "local rate", "local scale = require 'scale'\nlocal rate");
  const std::string source = replaced(with_module, "forward(x)", "forward(x * scale.by)");
  const std::string second = source + "-- second\n", third = source + "-- third\n";
  const std::string script = folder.write("train.lua", source);
  int reloads = 0;
  const MadeRun made =
      make_run(script, folder.path() + "/run", {}, [&](Session& session, const Event& event) {
        if (event.kind != Event::Kind::step) return;
        if (event.step == 9 && reloads == 0) {
          ++reloads;
          folder.write("scale.lua", "return {by = 0.5}");
          session.reload(second);
        } else if (event.step == 20 && reloads == 1) {
          ++reloads;
          session.reload(third);
        }
      });
  REQUIRE(made.outcome == Outcome::ok);
  folder.write("scale.lua", "return {by = 7}");
  const Timeline line = read_timeline(made.folder);
  for (const auto& [step, text, by] : {std::tuple{1, &source, "1.5"},
                                       {9, &source, "1.5"},
                                       {10, &second, "0.5"},
                                       {20, &second, "0.5"},
                                       {21, &third, "0.5"},
                                       {40, &third, "0.5"}}) {
    CAPTURE(step);
    const Modules texts = line.texts_of(step);
    CHECK(texts.at(script) == *text);
    CHECK(texts.at(module) == "return {by = " + std::string(by) + "}");
  }
}

TEST_CASE("what a run does not record is found, with the step and the number or tensor") {
  const Folder folder;
  const std::string file = folder.write("noise.txt", "0");
  // Not a shift or a scale of x: batch_norm undoes both.
  const std::string noise = "if step == 13 then local f = io.open('" + file +
                            "') x = x + f:read('n') * x:square() f:close() end\n  local loss = nn";
  const std::string source = replaced(kCnn, "local loss = nn", noise);
  for (const bool logs : {true, false}) {
    const std::string script =
        folder.write("train.lua", logs ? source : replaced(source, "lg.run.log {loss = loss}", ""));
    folder.write("noise.txt", "0");
    RunOptions options;
    auto some = std::make_shared<EachFifth>();
    options.keyframe_sink = some;
    const MadeRun made = make_run(script, folder.path() + (logs ? "/logs" : "/silent"), options);
    folder.write("noise.txt", "0.25");
    Scrubber scrubber(made.folder, some);
    scrubber.replay.go_to(12);
    CHECK(!scrubber.replay.difference());
    scrubber.replay.run_through(11, 22, [](Session&) {});
    const std::optional<Difference> differs = scrubber.replay.difference();
    REQUIRE(differs);
    CHECK(differs->step == (logs ? 13 : 15));
    CHECK(differs->what.starts_with(logs ? "loss is " : "model."));
    CHECK(scrubber.warnings.empty());
    scrubber.replay.go_to(30);  // from a keyframe behind the noise
    CHECK(scrubber.evaluated("fingerprint()") == made.fingerprints.at(30));
  }
}

TEST_CASE("states that are not registered make a replay begin with the first step") {
  const std::string source =
      replaced(kCnn, "  local loss = nn",
               "  ema = 0.9 * (ema or 0) + 0.1 * x:mean():item()\n  x = x + ema\n  local loss = nn");
  const KeptRun run(source);
  const MadeRun& made = run.made;
  Scrubber scrubber(made.folder, run.memory);
  CHECK(scrubber.fingerprint(33) == made.fingerprints.at(33));
  REQUIRE(scrubber.warnings.size() == 1);
  CHECK(scrubber.warnings[0].find("lg.run.state does not register all") != std::string::npos);
  CHECK(!scrubber.replay.difference());
}

TEST_CASE("states that are not registered are found when the wanted step itself is the first that tells") {
  const std::string source =
      replaced(kCnn, "  loss:backward()",
               "  ema = 0.9 * (ema or 0) + 0.1 * x:mean():item()\n  loss = loss * ema\n  loss:backward()");
  const KeptRun run(source);
  const MadeRun& made = run.made;
  Scrubber scrubber(made.folder, run.memory);
  CHECK(scrubber.fingerprint(31) == made.fingerprints.at(31));  // right after a keyframe
  CHECK(scrubber.warnings.size() == 1);
  CHECK(scrubber.fingerprint(36) == made.fingerprints.at(36));
  CHECK(!scrubber.replay.difference());
}

TEST_CASE("a difference that comes when a replay goes on is met by another start") {
  const std::string source =
      replaced(kCnn, "  local loss = nn",
               "  if step == 8 then late = 1 end\n  if step == 13 then x = x + late end\n  local loss = nn");
  const KeptRun run(source);
  const MadeRun& made = run.made;
  Scrubber scrubber(made.folder, run.memory);
  CHECK(scrubber.fingerprint(7) == made.fingerprints.at(7));
  CHECK(scrubber.fingerprint(9) == made.fingerprints.at(9));
  CHECK(scrubber.fingerprint(16) == made.fingerprints.at(16));
  CHECK(scrubber.fingerprint(12) == made.fingerprints.at(12));
  CHECK(scrubber.fingerprint(13) == made.fingerprints.at(13));
  // An error of the script is a difference, too: `late` is nil after the keyframe of step 10.
  Scrubber behind(made.folder, run.memory);
  CHECK(behind.fingerprint(14) == made.fingerprints.at(14));
  REQUIRE(behind.warnings.size() == 1);
  CHECK(behind.warnings[0].find("after the keyframe of step 10, ") == 0);
  CHECK(behind.warnings[0].find("before step 13") != std::string::npos);
}

TEST_CASE("damaged keyframes are left out with a warning") {
  const KeptRun run(kCnn);
  const MadeRun& made = run.made;
  for (const int64_t step : run.memory->steps()) write_keyframe(made.folder, *run.memory->latest(step, step));
  size_t damaged = 0;
  for (const auto& found : fs::directory_iterator(made.folder + "/keyframes")) {
    if (damaged++ % 2)
      fs::resize_file(found, fs::file_size(found) / 2);
    else
      std::fstream(found.path(), std::ios::in | std::ios::out | std::ios::binary).seekp(900).put('!');
  }
  Scrubber scrubber(made.folder);
  CHECK(scrubber.fingerprint(39) == made.fingerprints.at(39));
  REQUIRE(damaged == 9);
  // one for each keyframe up to step 38, and one because no keyframe is left
  REQUIRE(scrubber.warnings.size() == 9);
  CHECK(scrubber.warnings[0].find("damaged") != std::string::npos);
}

TEST_CASE("a script without lg.run.steps is replayed from its beginning") {
  const Folder folder;
  const std::string script =
      folder.write("train.lua", replaced(kGpt, "lg.run.steps(30)", "ipairs(lg.arange(1, 13):tolist())"));
  const MadeRun made = make_run(script, folder.path() + "/run");
  REQUIRE(made.outcome == Outcome::ok);
  Scrubber scrubber(made.folder);
  CHECK(scrubber.replay.steps() == 12);
  for (const int64_t step : {1, 7, 12}) {
    scrubber.replay.go_to(step);
    CHECK(scrubber.replay.session().tape());
  }
  CHECK(!scrubber.replay.difference());
}

TEST_CASE("a replay that cannot be made says why") {
  const Folder folder;
  CHECK(message_of([&] { Replay(folder.path() + "/none"); }).find("no such file or folder") !=
        std::string::npos);
  const std::string script = folder.write("train.lua", kCnn);
  RunOptions options;
  options.steps = 5;
  const MadeRun made = make_run(script, folder.path() + "/run", options);
  Replay replay(made.folder);
  CHECK(message_of([&] {
          replay.go_to(6);
        }).find("step 6: the run " + made.folder + " has the steps 1 to 5") == 0);
  CHECK(message_of([&] { replay.go_to(0); }).find("has the steps 1 to 5") != std::string::npos);
  const std::string config = test::read_file(made.folder + "/config.json");
  const std::string with_ranks = replaced(config, "{", "{\"ranks\": 2,");
  std::ofstream(made.folder + "/config.json") << with_ranks;
  CHECK(message_of([&] { Replay(made.folder); }).find("config.json: is damaged") != std::string::npos);
  std::ofstream(made.folder + "/config.json")
      << replaced(with_ranks.substr(0, with_ranks.find(",\n  \"checksum\"")), "\"checksummed\": true,", "")
      << "}";
  CHECK(message_of([&] { Replay(made.folder); }).find("a run of 2 ranks") != std::string::npos);
  std::ofstream(made.folder + "/config.json") << "{";
  CHECK(message_of([&] { Replay(made.folder); }).find("does not say what was run") != std::string::npos);
  fs::remove(made.folder + "/script.lua");
  CHECK(message_of([&] { replay.go_to(3); }).find("script.lua") != std::string::npos);
}

TEST_CASE("scrubbing the digits example is fast, and keyframes cost little") {
  const Folder folder;
  auto memory = std::make_shared<MemoryKeyframes>(size_t(256) << 20);
  RunOptions options;
  options.steps = 1000;
  options.keyframe_sink = memory;
  const std::string script = LUNAGRAD_SOURCE_DIR "/examples/04_digits_mlp.lua";
  const MadeRun made = make_run(script, folder.path() + "/run", options);
  REQUIRE(made.outcome == Outcome::ok);
  const double share = memory->share();
  Scrubber scrubber(made.folder, memory);
  std::vector<double> seconds;
  for (const int64_t step : random_steps(1000, 50)) {
    const auto start = std::chrono::steady_clock::now();
    scrubber.replay.go_to(step);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    REQUIRE(scrubber.replay.session().tape(step));
  }
  CHECK(!scrubber.replay.difference());
  CHECK(scrubber.warnings.empty());
  std::sort(seconds.begin(), seconds.end());
  MESSAGE("50 jumps in 1000 steps: median " << seconds[25] << " s, worst " << seconds.back() << " s; "
                                            << memory->steps().size() << " keyframes, " << 100 * share
                                            << " % of the time");
  CHECK_TIME(share < 0.05);
}
