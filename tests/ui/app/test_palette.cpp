// The palette finds commands by what they do. The table below has words that researchers type; each must find
// one of its titles among the first three, in a window with a tape, a selected node, a listed run and
// parameters.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "script/parts/names.h"
#include "tests/support/timing.h"
#include "tests/ui/null_host.h"
#include "ui/actions/command_words.h"
#include "ui/app/commands.h"
#include "ui/base/name_search.h"
#include "ui/window/theme.h"

using namespace lunagrad;

namespace {

struct Expected {
  const char* typed;
  std::vector<const char*> titles;  // one of them is among the first three
};

const Expected kWords[] = {
    // What the window did not know
    {"fork", {"Go on from here..."}},
    {"branch", {"Go on from here..."}},
    {"export", {"Tape: export", "Curves: export"}},
    {"freeze", {"Model: freeze"}},
    {"freezing", {"Model: freeze"}},
    {"thaw", {"Model: unfreeze"}},
    {"memory", {"Profiler: memory"}},
    {"diff", {"Tape: compare"}},
    {"graph", {"Panel: Tape"}},
    {"image", {"Panel: Media", "Data: pictures"}},
    {"leak", {"Profiler: find what outlives its step"}},
    {"memory leaks", {"Profiler: find what outlives its step"}},
    {"font", {"Window: larger text"}},
    // The run
    {"train", {"Run or continue"}},
    {"resume", {"Run or continue"}},
    {"restart", {"Clean run"}},
    {"abort", {"Stop"}},
    {"breakpoint", {"Panel: Breakpoints", "Text: breakpoint on the line"}},
    {"next batch", {"Step one iteration"}},
    {"nan", {"Run again to the first NaN", "Breakpoints: break on NaN"}},
    {"inf", {"Run again to the first NaN", "Breakpoints: break on NaN"}},
    {"exploding gradients", {"Panel: Gradients", "Gradients: norms"}},
    {"gpu", {"Next run: device, seed and arguments"}},
    {"seed", {"Next run: device, seed and arguments"}},
    {"go back in time", {"Back in time"}},
    {"live", {"Latest step"}},
    {"watch expression", {"Add a probe"}},
    // The window
    {"dark", {"Window: light or dark"}},
    {"theme", {"Window: light or dark"}},
    {"fullscreen", {"Panel: fill the window"}},
    {"shortcuts", {"Window: keyboard shortcuts"}},
    {"docs", {"Help: search", "Panel: Examples and help"}},
    {"tutorial", {"Help: examples", "Panel: Examples and help"}},
    {"layout", {"Layout: Write"}},
    {"quit", {"Window: close"}},
    {"terminal", {"Panel: Console"}},
    {"hyperparameters", {"Panel: Parameters"}},
    {"open file", {"Script: open", "Text: open"}},
    // Curves, tape, gradients, profiler, data
    {"plot", {"Panel: Curves"}},
    {"smoothing", {"Curves: smooth more"}},
    {"log scale", {"Curves: scale of y"}},
    {"csv", {"Curves: export"}},
    {"histogram", {"Gradients: histograms"}},
    {"collapse", {"Tape: close all modules"}},
    {"colour by time", {"Tape: colour by forward time", "Tape: colour by operation"}},
    {"dot", {"Tape: export"}},
    {"gradcheck", {"Inspector: check gradient"}},
    {"cpu vs gpu", {"Inspector: compare devices", "Next run: device, seed and arguments"}},
    {"slow", {"Panel: Profiler", "Profiler: lines", "Profiler: modules"}},
    {"flops", {"Panel: Profiler"}},
    {"dataloader", {"Panel: Data"}},
    {"fusion", {"Profiler: groups", "Tape: groups"}},
    {"optimizer", {"Model: optimizer..."}},
    {"xavier", {"Model: re-initialise by..."}},
    {"insert layer", {"Model: insert before...", "Model: insert after..."}},
    {"undo", {"History: undo the last change", "Tape: undo the last change"}},
    {"experiments", {"Panel: Runs"}},
    {"share report", {"Runs: export"}},
    // What the state has: parameters, nodes, runs
    {"lr", {"Parameter: lr"}},
    {"learning rate", {"Panel: Parameters", "Model: optimizer..."}},
    {"relu", {"Node: relu"}},
    {"softmax", {"Node: log_softmax"}},
    {"first-try", {"Run: first-try"}},
    // Abbreviations
    {"laywri", {"Layout: Write"}},
    {"ptape", {"Panel: Tape"}},
    // Keys
    {"F5", {"Run or continue"}},
    {"ctrl+s", {"Text: save"}},
};
static_assert(std::size(kWords) >= 60);

constexpr const char* kPaletteScript = R"(
local lg = require "lunagrad"
local lr = lg.run.live("lr", 0.01, {min = 0.001, max = 1})
local w = lg.ones(4, {requires_grad = true})
for step in lg.run.steps(3) do
  w.grad = nil
  local loss = -(w * step):relu():log_softmax(1):sum()
  loss:backward()
  lg.run.log {loss = loss}
end
)";

// The whole window but the window itself.
class Window {
 public:
  Window() {
    use_font(host_.font());
    set_theme(true);
    char name[] = "/tmp/lunagrad-palette-XXXXXX";
    folder_ = mkdtemp(name);
    bench_ = std::make_unique<Workbench>("", RunOptions(), [] {});
    add_window_commands(*bench_, {palette_, key_sheet_, regions_, panels_, [] {}, [] {}});
    for (const auto& panel : panels_) panel->add_commands(*bench_);
  }
  ~Window() {
    bench_->control().interrupt();
    panels_.clear();
    bench_.reset();
    std::filesystem::remove_all(folder_);
  }
  Window(const Window&) = delete;

  // Runs the script, lists its run and selects a node of its tape.
  void run() {
    bench_->begin_host_run();
    RunOptions options;
    options.run_directory = folder_ + "/runs/first-try";
    bench_->live_session().run_text(kPaletteScript, "@a/folder/leak.lua", options);
    REQUIRE(bench_->live_session().wait() == Outcome::ok);
    REQUIRE(tests::eventually([&] {
      bench_->update();
      bench_->curves().look_around(bench_->script());
      return bench_->tape().texts() && !bench_->runs().runs().empty() &&
             bench_->session().params().size() == 1;
    }));
    const TapeSnapshot& tape = *bench_->tape().tape();
    for (size_t i = 0; i < tape.nodes.size(); ++i)
      if (tape.nodes[i].op == "leaf") bench_->tape_actions().select(int(i));
  }
  Workbench& bench() { return *bench_; }
  std::vector<std::string> first(const std::string& typed, size_t count = 3) const {
    std::vector<std::string> titles;
    for (const CommandPtr& command : bench_->commands().matching(typed))
      if (titles.size() < count) titles.push_back(command->name);
    return titles;
  }

 private:
  const tests::NullHost host_;
  std::string folder_;
  std::vector<std::unique_ptr<Panel>> panels_ = make_panels();
  Regions regions_{panels_};
  Palette palette_;
  KeySheet key_sheet_;
  std::unique_ptr<Workbench> bench_;
};

std::string joined(const std::vector<std::string>& titles) {
  std::string text;
  for (const std::string& title : titles) text += (text.empty() ? "" : " | ") + title;
  return text;
}

// A build without lg.surgery has no changes of the model.
bool of_left_out_part(std::string_view command) {
  return command.starts_with("Model: ") && is_left_out("lg.surgery");
}

int score(const char* typed, const char* title, const char* synonyms = "", const char* description = "") {
  return TypedWords(typed).score({title, synonyms, description}).value_or(-1);
}

}  // namespace

TEST_CASE("60 words find what they mean among the first three") {
  Window window;
  window.run();
  int typed = 0, right = 0;
  for (const Expected& expected : kWords) {
    if (of_left_out_part(expected.titles[0])) continue;
    CAPTURE(expected.typed);
    const std::vector<std::string> first = window.first(expected.typed);
    CAPTURE(joined(first));
    const bool found = std::any_of(expected.titles.begin(), expected.titles.end(), [&](const char* title) {
      return std::find(first.begin(), first.end(), title) != first.end();
    });
    CHECK(found);
    ++typed;
    right += found;
  }
  MESSAGE(right, " of ", typed, " words find what they mean");
  // Neither do runs that are named so hide a command.
  window.bench().commands().add_source([](std::string_view, std::vector<Command>& found) {
    for (int i = 1; i <= 9; ++i) found.push_back({"Run: resume-" + std::to_string(i), "", "", [] {}});
  });
  const std::vector<std::string> resumed = window.first("resume");
  CHECK(std::find(resumed.begin(), resumed.end(), "Run or continue") != resumed.end());
  // Nor does what belongs to a file of that name: its nodes and its runs.
  window.bench().commands().add_source([](std::string_view, std::vector<Command>& found) {
    found.push_back({"Run: leak", "", "Shows its curves: leak.lua, finished, step 3", [] {}});
    found.back().named_by_file = true;
  });
  CHECK(window.first("leak")[0] == "Profiler: find what outlives its step");
  const std::vector<std::string> files = window.first("leak", 1000);
  CHECK(std::find(files.begin(), files.end(), "Run: leak") != files.end());
  CHECK(std::find(files.begin(), files.end(), "Node: relu") != files.end());
  const std::vector<std::string> fonts = window.first("font", 1000);
  CHECK(std::find(fonts.begin(), fonts.end(), "Forward in time") == fonts.end());
  const std::vector<std::string> leaks = window.first("leak", 1000);
  CHECK(std::find(leaks.begin(), leaks.end(), "Panel: Breakpoints") == leaks.end());
}

TEST_CASE("a window without a run finds its commands, and every entry of the synonyms is a command") {
  Window window;
  if (!of_left_out_part("Model: freeze")) {
    const std::vector<std::string> freeze = window.first("freeze");
    CHECK(freeze[0] == "Model: freeze");
    CHECK_FALSE(window.bench().commands().enabled(*window.bench().commands().find("Model: freeze")));
  }
  CHECK(window.first("zzzz").empty());
  CHECK(window.first("", 1000).size() == window.bench().commands().all().size());
  std::set<std::string_view> known;
  for (const CommandWords& words : command_words()) {
    CAPTURE(words.command);
    if (of_left_out_part(words.command)) continue;
    CHECK(window.bench().commands().find(words.command) != nullptr);
    CHECK(known.insert(words.command).second);
  }
  for (const Command& command : window.bench().commands().all()) {
    CAPTURE(command.name);
    CHECK_FALSE(command.help.empty());
    CHECK(std::count_if(window.bench().commands().all().begin(), window.bench().commands().all().end(),
                        [&](const Command& other) { return other.name == command.name; }) == 1);
  }
}

TEST_CASE(
    "what the palette offers for the state does it: a node is selected, a run shown, a parameter's panel "
    "opened") {
  Window window;
  window.run();
  Workbench& bench = window.bench();
  const auto run = [&](const char* typed) {
    const std::vector<CommandPtr> found = bench.commands().matching(typed);
    REQUIRE_FALSE(found.empty());
    REQUIRE(bench.commands().run(*found[0]));
  };
  run("relu");
  REQUIRE(bench.tape().selected_node());
  CHECK(bench.tape().selected_node()->op == "relu");
  run("first-try");
  REQUIRE(bench.runs().shown().size() == 1);
  CHECK(bench.runs().shown().begin()->ends_with("first-try"));
  run("first-try");
  CHECK(bench.runs().shown().empty());
  // A layout with all panels, as the window has one.
  bench.shell().use_layout("Watch", preset_layout("Watch", {{"Parameters", Region::lower_left},
                                                            {"Profiler", Region::upper_right}}));
  run("Parameter: lr");
  CHECK(bench.settings().layout.focused == "Parameters");
  run("profiler memory");
  CHECK(bench.settings().layout.focused == "Profiler");
}

TEST_CASE(
    "titles come before synonyms, synonyms before groups and descriptions, beginnings of words at last") {
  const int whole = score("export", "Tape: export"), start = score("export", "Tape: export all"),
            word = score("export", "Tape: all to export"), synonym = score("export", "Tape: save", "export"),
            group = score("export", "Export: dot"),
            description = score("export", "Save", "", "Export of a tape."),
            letters = score("exof", "Export of a tape");
  CHECK(whole > start);
  CHECK(start > word);
  CHECK(word > synonym);
  CHECK(synonym > group);
  CHECK(group > description);
  CHECK(description > letters);
  CHECK(letters > 0);
  // Endings, capitals within a name, parts of names.
  CHECK(score("leaks", "Find a leak") > 0);
  CHECK(score("stopped", "Stop") > 0);
  CHECK(score("histories", "History") > 0);
  CHECK(score("losses", "Node: CrossEntropyLoss") > 0);
  CHECK(score("nan", "Break on NaN") > score("nan", "Break", "nan"));
  CHECK(score("smoothing", "Parameter: label_smoothing") > score("smoothing", "Curves: smooth more"));
  CHECK(score("go to the line", "Node: go to its line") > 0);
  // Every word counts, and letters within words find nothing.
  CHECK(score("export curves", "Tape: export") < 0);
  CHECK(score("font", "Forward in time") < 0);
  CHECK(score("eak", "Break") < 0);
  CHECK(score("...", "Replace...") > 0);
  CHECK(score("...", "Replace") < 0);
}
