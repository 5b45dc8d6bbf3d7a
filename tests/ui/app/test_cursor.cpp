// The window has one time cursor: at any moment each panel shows its step, or names another one in its
// header, and at a pause all panels agree.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "runtime/core/figures.h"
#include "tests/support/timing.h"
#include "tests/ui/null_host.h"
#include "ui/app/regions.h"
#include "ui/panels/toolbar.h"

using namespace lunagrad;

namespace {

// Scripts whose steps are seen in different ways. A reload continues with the registered states.
constexpr const char* kScripts[] = {
    // A plain loop, and the same step with a picture and a loader.
    R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = lg.run.state("net", function() return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)) end)
local sgd = lg.optim.SGD(net:parameters(), {lr = lg.run.live("lr", 0.01)})
for step in lg.run.steps() do
  sgd:zero_grad()
  local loss = net(lg.randn(8, 4)):square():mean()
  loss:backward(); sgd:step()
  lg.run.log{loss = loss}
end)",
    R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.ones(6):requires_grad_() end)
local loader = lg.data.DataLoader(lg.data.TensorDataset(lg.randn(64, 6)), {batch_size = 8})
for step in lg.run.steps() do
  for x in loader do
    w.grad = nil
    local loss = (w * x):square():sum()
    loss:backward()
    lg.no_grad(function() w:sub_(w.grad * 1e-4) end)
    lg.run.log{loss = loss}
    if step % 5 == 0 then lg.run.text("note", "step " .. step) end
    break
  end
end)",
    // Two steps of three have no backward pass.
    R"(
local lg = require "lunagrad"
local w = lg.run.state("w", function() return lg.ones(3):requires_grad_() end)
for step in lg.run.steps() do
  local loss = (w ^ 2):sum()
  if step % 3 == 0 then w.grad = nil; loss:backward() end
  lg.run.log{loss = loss}
end)",
    // Two passes in each step.
    R"(
local lg = require "lunagrad"
local nn = lg.nn
local g = lg.run.state("g", function() return nn.Linear(3, 3) end)
local d = lg.run.state("d", function() return nn.Linear(3, 1) end)
local of_g, of_d = lg.optim.SGD(g:parameters(), {lr = 0.01}), lg.optim.SGD(d:parameters(), {lr = 0.01})
for step in lg.run.steps() do
  local fake = g(lg.randn(4, 3))
  of_d:zero_grad()
  local loss = d(fake:detach()):square():mean()
  loss:backward(); of_d:step()
  of_g:zero_grad()
  d(fake):mean():backward(); of_g:step()
  lg.run.log{loss = loss}
end)"};

RunOptions options() {
  RunOptions options;
  options.write_run = false;
  options.interactive = true;
  return options;
}

// The window without a window: toolbar and panels, in a frame of 1280 x 800.
class Screen {
 public:
  Screen() : fonts_({.font = host_.font()}), bench_("", options(), [] {}), regions_(panels_) {
    ImGui::GetIO().DisplaySize = {1280, 800};
    for (const auto& panel : panels_) panel->add_commands(bench_);
    regions_.add_actions(bench_);
    bench_.description().enable();
    bench_.actions().act("layout", {std::string("Inspect")});
  }

  void frame() {
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    bench_.description().clear();
    bench_.update();
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({1280, 800});
    ImGui::Begin("workbench", nullptr, ImGuiWindowFlags_NoDecoration);
    ImGui::SetCursorScreenPos({8, 8});
    ImGui::BeginChild("toolbar", {1264, ImGui::GetFrameHeight()}, false, ImGuiWindowFlags_NoScrollbar);
    toolbar_.draw(bench_);
    ImGui::EndChild();
    regions_.draw(bench_, {8, 40}, {1264, 752});
    ImGui::End();
    ImGui::Render();
  }

  bool shows(const std::string& name, const std::string& text) {
    const auto& items = bench_.description().items();
    return std::any_of(items.begin(), items.end(), [&](const Description::Item& item) {
      return item.name == name && item.text.find(text) != item.text.npos;
    });
  }

  // The panels that are in front and show another step than the cursor's without a word.
  std::string silent() {
    std::string found;
    const int64_t cursor = bench_.shown().cursor();
    for (const auto& panel : panels_) {
      const std::string title = panel->title();
      if (!shows("region", " in front " + title)) continue;
      const std::optional<PanelStep> step = panel->shown_step(bench_);
      if (!step || (step->step == cursor && !step->former)) continue;
      ++named_;
      const std::string number = std::to_string(step->step);
      const bool said =
          shows("panel.step",
                title + ": " + (step->former ? "previous" : "step " + count_figure(step->step))) ||
          (title == "Tape" && shows("tape.summary", "step " + number)) ||
          (title == "Inspector" && shows("inspector.step", "step " + number));
      if (!said)
        found += title + " shows step " + number + ", the cursor is at " + std::to_string(cursor) + "\n";
    }
    return found;
  }

  Workbench& bench() { return bench_; }
  const std::vector<std::unique_ptr<Panel>>& panels() const { return panels_; }
  int named() const { return named_; }  // steps that differed from the cursor's

 private:
  const tests::NullHost host_;
  const PanelHost fonts_;
  Workbench bench_;
  std::vector<std::unique_ptr<Panel>> panels_ = make_panels();
  Regions regions_;
  Toolbar toolbar_{[] {}};
  int named_ = 0;
};

const Description::Item* item_of(Workbench& bench, const std::string& name) {
  const auto& items = bench.description().items();
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("each panel shows the cursor's step or names its own, at 500 random moments") {
  std::mt19937 random(11);
  const auto one_of = [&](size_t count) { return size_t(random() % unsigned(count)); };
  int moments = 0, running = 0, paused = 0, past = 0, reloads = 0, named = 0;
  std::string wrong;
  for (const char* script : kScripts) {
    Screen screen;
    Workbench& bench = screen.bench();
    bench.live_session().run_text(script, "=steps", options());
    for (int i = 0; i < 125; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(300 + one_of(3000)));
      screen.frame();
      ++moments;
      running += bench.journal().state() == SessionState::running;
      paused += bench.journal().state() == SessionState::paused;
      past += !bench.shown().live();
      wrong += screen.silent();
      if (bench.shown().live() != screen.shows("cursor", "live")) wrong += "the toolbar's cursor\n";
      const TapeSnapshot* const tape = bench.tape().tape();
      const auto& kept = bench.shown().history().steps;
      switch (one_of(12)) {
        case 0:
        case 1:
          bench.control().pause_or_resume();
          break;
        case 2:
          if (bench.journal().active()) bench.control().step();
          break;
        case 3:
          bench.control().step_op();
          break;
        case 4:
        case 5:
          if (!kept.empty()) bench.shown().go_to(kept[one_of(kept.size())].step);
          break;
        case 6:
          bench.shown().go_live();
          break;
        case 7:
          bench.live_session().reload(script + ("\n-- reload " + std::to_string(i)));
          ++reloads;
          break;
        case 8:
        case 9:
          bench.actions().act("show_panel",
                              {std::string(screen.panels()[one_of(screen.panels().size())]->title())});
          break;
        default:
          if (tape && !tape->nodes.empty()) bench.tape_actions().select(int(one_of(tape->nodes.size())));
      }
    }
    named += screen.named();
    bench.control().interrupt();
  }
  CHECK(wrong == "");
  CHECK(moments == 500);
  CHECK(running > 30);
  CHECK(paused > 30);
  CHECK(past > 30);
  CHECK(reloads > 10);
  CHECK(named > 30);
}

TEST_CASE("at every pause the gradients are of the step that the tape shows") {
  Screen screen;
  Workbench& bench = screen.bench();
  bench.shell().settings().statistics_every = 1000;  // a pause falls on a step that sampling passed over
  bench.live_session().run_text(kScripts[0], "=steps", options());
  REQUIRE(tests::eventually([&] {
    screen.frame();
    return bench.journal().step() > 3;
  }));
  bench.actions().act("show_panel", {std::string("Gradients")});
  for (int round = 0; round < 5; ++round) {
    bench.control().pause_or_resume();
    REQUIRE(tests::eventually([&] {
      screen.frame();
      return bench.journal().state() == SessionState::paused;
    }));
    REQUIRE(tests::eventually([&] {
      screen.frame();
      const TapeSnapshot* const tape = bench.tape().tape();
      return tape && tape->step == bench.shown().cursor() && tape->has_statistics &&
             bench.gradients().has(bench.shown().cursor());
    }));
    screen.frame();
    CHECK(screen.silent() == "");
    CHECK_FALSE(screen.shows("panel.step", "Gradients"));
    const StepStatistics& step = *bench.gradients().at(bench.shown().cursor());
    REQUIRE(step.parameters.size() == 4);
    for (const ParameterStatistics& p : step.parameters) {
      CHECK(p.has_gradient);
      CHECK(p.weight.norm > 0);
    }
    // The tape's nodes have the same figures.
    for (const NodeInfo& node : bench.tape().tape()->nodes)
      for (const ParameterStatistics& p : step.parameters)
        if (node.id == p.node) {
          REQUIRE(node.gradient_summary);
          CHECK(node.gradient_summary->norm == p.gradient.norm);
        }
    bench.control().pause_or_resume();
    const int64_t from = bench.journal().step();
    REQUIRE(tests::eventually([&] {
      screen.frame();
      return bench.journal().step() > from + 5;
    }));
  }
  bench.control().interrupt();
}

TEST_CASE("the toolbar turns amber at a past step, and its row stays where it is") {
  Screen screen;
  Workbench& bench = screen.bench();
  bench.actions().act("show_panel", {std::string("Curves")});
  bench.live_session().run_text(kScripts[0], "=steps", options());
  REQUIRE(tests::eventually([&] {
    screen.frame();
    return bench.shown().history().steps.size() > 3;
  }));
  screen.frame();
  CHECK(screen.shows("cursor", "live"));
  REQUIRE(item_of(bench, "theme"));
  const auto left_of = [&](const char* name) {
    return item_of(bench, name) ? item_of(bench, name)->min.x : -1;
  };
  const std::vector<const char*> names{"pause", "state", "step", "cursor", "theme"};
  std::vector<float> places;
  for (const char* name : names) places.push_back(left_of(name));
  bench.control().pause_or_resume();
  REQUIRE(tests::eventually([&] {
    screen.frame();
    return bench.journal().state() == SessionState::paused;
  }));
  for (size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i]);
    CHECK(left_of(names[i]) == places[i]);
  }
  const int64_t step = bench.shown().history().steps.front().step;
  bench.shown().go_to(step);
  screen.frame();
  CHECK(screen.shows("cursor", "step " + count_figure(step) + " (past)"));
  CHECK(screen.shows("cursor.live", "Live"));
  CHECK(screen.shows("curves.cursor", "step " + count_figure(step) + " (past)"));
  for (size_t i = 0; i < names.size(); ++i) CHECK(left_of(names[i]) == places[i]);
  bench.shown().go_live();
  screen.frame();
  CHECK(screen.shows("cursor", "live"));
  CHECK_FALSE(screen.shows("cursor.live", ""));
  bench.control().interrupt();
}
