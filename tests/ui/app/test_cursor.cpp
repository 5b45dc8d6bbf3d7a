// The window has one time cursor: at a pause all panels show its step, and the toolbar says whether it is a
// past one.
#include <doctest/doctest.h>

#include <vector>

#include "tests/support/timing.h"
#include "tests/ui/app/moment_scripts.h"
#include "tests/ui/screen.h"

using namespace lunagrad;

TEST_CASE("at every pause the gradients are of the step that the tape shows") {
  tests::Screen screen;
  Workbench& bench = screen.bench();
  bench.shell().settings().statistics_every = 1000;  // a pause falls on a step that sampling passed over
  bench.live_session().run_text(tests::kMomentScripts[0].text, "=steps", tests::interactive_run());
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
  tests::Screen screen;
  Workbench& bench = screen.bench();
  bench.actions().act("show_panel", {std::string("Curves")});
  bench.live_session().run_text(tests::kMomentScripts[0].text, "=steps", tests::interactive_run());
  REQUIRE(tests::eventually([&] {
    screen.frame();
    return bench.shown().history().steps.size() > 3;
  }));
  screen.frame();
  CHECK(screen.shows("cursor", "live"));
  REQUIRE(screen.item("theme"));
  const auto left_of = [&](const char* name) { return screen.item(name) ? screen.item(name)->min.x : -1; };
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
