// The window has one time cursor at every moment that a person can bring about: each panel in front shows its
// step, or names another one in its header. Twelve scripts run, pause, go back, live again, are reloaded with
// another text, repeat steps, are forked, fail, go on and end, in a random order.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/timing.h"
#include "tests/ui/app/moment_scripts.h"
#include "tests/ui/screen.h"

using namespace lunagrad;

namespace {

// How far replays and forks go: each repeats the steps from a keyframe.
constexpr int64_t kFarthest = 300;
// How long a deed is waited for, in seconds.
constexpr double kPatience = 5;
// The run to a first NaN that a test counts takes as long as the whole run before it.
constexpr double kRerunPatience = 30;
// How much text about faults is kept of one script.
constexpr size_t kEnough = 2000;
// How many steps a run has before one of them is repeated.
constexpr int64_t kFewest = 20;

enum class Deed {
  pause_or_run,
  step,
  step_op,
  go_back,
  go_live,
  reload,
  reload_with_error,
  repeat_step,
  fork,
  run_again,
  stop,
  show_panel,
  change_layout,
  select_node
};

struct DeedOften {
  Deed deed;
  const char* name;
  int times;  // with one script
};
constexpr DeedOften kDeeds[] = {
    {Deed::pause_or_run, "pause or run", 10},
    {Deed::step, "step", 4},
    {Deed::step_op, "step op", 4},
    {Deed::go_back, "go back", 8},
    {Deed::go_live, "go live", 4},
    {Deed::reload, "reload", 4},
    {Deed::reload_with_error, "reload with an error", 1},
    {Deed::repeat_step, "repeat a step", 4},
    {Deed::fork, "fork", 1},
    {Deed::run_again, "run again", 1},
    {Deed::stop, "stop", 2},
    {Deed::show_panel, "show a panel", 10},
    {Deed::change_layout, "change the layout", 3},
    {Deed::select_node, "select a node", 6},
};

// How many moments were of each kind.
struct Counts {
  int moments = 0, running = 0, paused = 0, past = 0, live_again = 0, reloaded = 0, replayed = 0, forked = 0,
      failed = 0, at_nan = 0, ended = 0, named = 0, silent = 0;
};

// Runs in the folder: forks and further runs make theirs there.
class WorkingFolder {
 public:
  WorkingFolder() { std::filesystem::current_path(folder_.file("")); }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  const tests::Folder& folder() const { return folder_; }

 private:
  const tests::Folder folder_;
  const std::filesystem::path before_ = std::filesystem::current_path();
};

class RandomPerson {
 public:
  RandomPerson(const tests::MomentScript& script, unsigned seed)
      : script_(script), random_(seed), path_(place_.folder().with("train.lua", script.text)) {
    bench().actions().act("open", {path_});
    bench().control().run();
  }
  ~RandomPerson() { bench().control().interrupt(); }

  void go_on(int rounds) {
    std::vector<const DeedOften*> deeds;
    for (const DeedOften& often : kDeeds) deeds.insert(deeds.end(), size_t(often.times * rounds), &often);
    std::shuffle(deeds.begin(), deeds.end(), random_);
    // The first run, which nothing has changed, certainly reaches its NaN.
    if (script_.becomes_nan)
      std::iter_swap(deeds.begin(), std::find_if(deeds.begin(), deeds.end(), [](const DeedOften* often) {
                       return often->deed == Deed::run_again;
                     }));
    for (const DeedOften* next : deeds) {
      last_ = next->name;
      carry_out(next->deed);
      std::this_thread::sleep_for(std::chrono::microseconds(300 + one_of(3000)));
      look();
      count(next->deed);
    }
    counts_.named += screen_.named() - counts_.silent;
  }

  const Counts& counts() const { return counts_; }
  const std::string& wrong() const { return wrong_; }

 private:
  Workbench& bench() { return screen_.bench(); }
  size_t one_of(size_t count) { return size_t(random_() % unsigned(count)); }

  // Draws a frame and checks it.
  void look() {
    screen_.frame();
    std::string found = screen_.silent();
    counts_.silent += int(std::count(found.begin(), found.end(), '\n'));
    ShownStep& shown = bench().shown();
    const auto coming = shown.coming();
    const std::string cursor = coming         ? "to step " + count_figure(*coming)
                               : shown.live() ? "live"
                                              : "step " + count_figure(shown.cursor()) + " (past)";
    const Description::Item* const item = screen_.item("cursor");
    if (!item || item->text != cursor)
      found += "the toolbar says '" + (item ? item->text : "nothing") + "' instead of '" + cursor + "'\n";
    if (!found.empty()) wrong_ += std::string(script_.name) + ", after " + last_ + ": " + found;
  }

  // Looks until the condition holds, or longer than it usually takes: a reload may belong to a run that
  // another one replaces. The counts tell whether most deeds had their effect.
  template <class Condition>
  void look_until(Condition&& condition, double patience = kPatience) {
    const double limit = tests::seconds_of(CLOCK_MONOTONIC) + patience;
    for (look(); !condition() && tests::seconds_of(CLOCK_MONOTONIC) < limit; look())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void count(Deed deed) {
    const Journal& journal = bench().journal();
    const ShownStep& shown = bench().shown();
    ++counts_.moments;
    counts_.running += journal.state() == SessionState::running;
    counts_.paused += journal.state() == SessionState::paused;
    counts_.past += !shown.live();
    counts_.live_again += deed == Deed::go_live && shown.live();
    counts_.reloaded += journal.reloads() > 0;
    counts_.replayed += shown.replayed();
    counts_.forked += shown.first_step() > 1;
    counts_.at_nan += journal.state() == SessionState::paused && journal.at_breakpoint();
    const bool ended = journal.ended() && !journal.active();
    counts_.ended += ended;
    counts_.failed += ended && journal.failure().has_value();
  }

  void carry_out(Deed deed) {
    RunActions& control = bench().control();
    ShownStep& shown = bench().shown();
    const bool active = bench().journal().active();
    switch (deed) {
      case Deed::pause_or_run:
        if (active)
          control.pause_or_resume();
        else
          control.run();
        break;
      case Deed::step:
        control.step();
        break;
      case Deed::step_op:
        control.step_op();
        break;
      case Deed::go_back:
        if (const auto& kept = shown.history().steps; !kept.empty())
          shown.go_to(kept[one_of(kept.size())].step);
        break;
      case Deed::go_live:
        shown.go_live();
        break;
      case Deed::reload:
        reload("");
        break;
      case Deed::reload_with_error:
        if (!active || !runs_the_file()) control.restart();
        look_until([&] { return bench().journal().active() && runs_the_file(); });
        reload("error('planted'); ");
        look_until([&] {
          if (bench().journal().state() == SessionState::paused) control.run();
          return !bench().journal().active();
        });
        reload("");
        if (one_of(2) == 0) control.go_on_after_failure();
        break;
      case Deed::repeat_step:
        repeat_step();
        break;
      case Deed::fork:
        fork();
        break;
      case Deed::run_again:
        run_again();
        break;
      case Deed::stop:
        if (!active) break;
        control.stop();
        look_until([&] { return !bench().journal().active(); });
        break;
      case Deed::show_panel:
        bench().actions().act("show_panel",
                              {std::string(screen_.panels()[one_of(screen_.panels().size())]->title())});
        break;
      case Deed::change_layout:
        bench().actions().act("layout", {std::string(kLayouts[one_of(std::size(kLayouts))])});
        break;
      case Deed::select_node:
        if (const TapeSnapshot* const tape = bench().tape().tape(); tape && !tape->nodes.empty())
          bench().tape_actions().select(int(one_of(tape->nodes.size())));
        break;
    }
  }

  // A fork may run the script's former text, which it has in a folder of its own.
  bool runs_the_file() {
    const std::vector<std::string> files = bench().session().files();
    return std::find(files.begin(), files.end(), path_) != files.end();
  }

  // Saves another text of the script, whose lines lie elsewhere, which a run takes over. `planted` is run
  // before the step logs.
  void reload(const std::string& planted) {
    std::string text = std::string(1 + one_of(5), '\n') + script_.text + "\n-- " + std::to_string(++texts_);
    text.insert(text.find("lg.run.log"), planted);
    bench().actions().act("set_text", {path_, text});
    const uint64_t reloads = bench().journal().reloads();
    const uint64_t runs = bench().journal().runs();
    if (!planted.empty() || !bench().journal().active() || !runs_the_file()) return;
    look_until([&] {
      const Journal& journal = bench().journal();
      return journal.reloads() > reloads || journal.runs() > runs || !journal.active();
    });
  }

  // Lets the script run until the condition holds.
  template <class Condition>
  void let_run(Condition&& condition) {
    const Journal& journal = bench().journal();
    look_until([&] {
      if (condition()) return true;
      if (journal.state() == SessionState::paused || journal.ended()) bench().control().run();
      return false;
    });
  }

  // A step of the run that lies so near its beginning that it is soon repeated.
  int64_t near_step() {
    const Journal& journal = bench().journal();
    const ShownStep& shown = bench().shown();
    let_run([&] { return journal.step() >= shown.first_step() + kFewest; });
    return shown.first_step() +
           int64_t(one_of(size_t(std::clamp<int64_t>(journal.step() - shown.first_step(), 1, kFarthest))));
  }

  void repeat_step() {
    bench().shown().go_to(near_step());
    look_until([&] { return !bench().shown().coming(); });
  }

  void fork() {
    const int64_t step = near_step();
    RunActions& control = bench().control();
    const uint64_t runs = bench().journal().runs();
    control.fork("", step, {}, one_of(2) == 0);
    look_until([&] {
      return (bench().journal().runs() > runs && bench().journal().step() > step) ||
             !control.forks().problem().empty();
    });
  }

  // To the first NaN, if there is one.
  void run_again() {
    const Journal& journal = bench().journal();
    if (!script_.becomes_nan) return bench().control().restart();
    let_run([&] { return journal.not_finite().has_value(); });
    const uint64_t runs = journal.runs();
    bench().control().run_to_not_finite();
    look_until(
        [&] {
          // A run that has just begun is not active for a moment.
          return journal.runs() > runs && journal.step() > 0 &&
                 (journal.state() == SessionState::paused || !journal.active());
        },
        kRerunPatience);
  }

  static constexpr const char* kLayouts[] = {"Write", "Watch", "Inspect"};
  const tests::MomentScript& script_;
  std::mt19937 random_;
  const WorkingFolder place_;
  const std::string path_;
  tests::Screen screen_{tests::interactive_run(true)};
  const char* last_ = "";
  int texts_ = 0;
  Counts counts_;
  std::string wrong_;
};

}  // namespace

TEST_CASE("each panel shows the cursor's step or names its own, at 500 random moments of 12 scripts") {
  static_assert(std::size(tests::kMomentScripts) == 12);
  const int rounds = tests::long_run() ? 10 : 1;
  Counts all;
  std::string wrong;
  for (size_t i = 0; i < std::size(tests::kMomentScripts); ++i) {
    if (tests::kSanitized && i % 4 != 3) continue;  // a step takes ten times as long
    const tests::MomentScript& script = tests::kMomentScripts[i];
    CAPTURE(std::string(script.name));
    RandomPerson person(script, unsigned(11 + i));
    person.go_on(rounds);
    wrong += person.wrong();
    const Counts& counts = person.counts();
    CHECK(counts.moments >= 42);
    for (int Counts::*kind :
         {&Counts::moments, &Counts::running, &Counts::paused, &Counts::past, &Counts::live_again,
          &Counts::reloaded, &Counts::replayed, &Counts::forked, &Counts::failed, &Counts::at_nan,
          &Counts::ended, &Counts::named, &Counts::silent})
      all.*kind += counts.*kind;
  }
  MESSAGE(all.moments, " moments: ", all.running, " running, ", all.paused, " paused, ", all.past,
          " in the past, ", all.live_again, " live again, ", all.reloaded, " after a reload, ", all.replayed,
          " of a replay, ", all.forked, " in a fork, ", all.at_nan, " at a first NaN, ", all.failed,
          " after an error, ", all.ended, " after the end; of the panels that showed another step, ",
          all.named, " said so and ", all.silent, " did not");
  CHECK(all.silent == 0);
  CHECK(wrong == "");
  if (tests::kSanitized) return;
  CHECK(all.moments >= 500);
  CHECK(all.running > 100);
  CHECK(all.paused > 50);
  CHECK(all.past > 50);
  CHECK(all.live_again > 30);
  CHECK(all.reloaded > 100);
  CHECK(all.replayed > 20);
  CHECK(all.forked > 20);
  CHECK(all.failed > 12);
  CHECK(all.at_nan > 0);
  CHECK(all.ended > 50);
  CHECK(all.named > 100);
}
