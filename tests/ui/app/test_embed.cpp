#include <GLFW/glfw3.h>
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/timing.h"
#include "tests/ui/null_host.h"
#include "ui/base/description.h"
#include "ui/window/input.h"

using namespace lunagrad;

namespace {

constexpr const char* kScript = R"(
local lg = require "lunagrad"
local w = lg.ones(3, {requires_grad = true})
for step in lg.run.steps(20) do
  w.grad = nil
  local loss = (w ^ 2):sum()
  loss:backward()
  lg.run.log {loss = loss}
end
)";

bool shows(PanelHost& panels, const std::string& name, const std::string& text) {
  const auto& items = panels.shown().items();
  return std::any_of(items.begin(), items.end(), [&](const Description::Item& item) {
    return item.name == name && item.text.find(text) != item.text.npos;
  });
}

// Draws until an item is shown.
bool comes(const tests::NullHost& host, PanelHost& panels, const std::vector<std::string>& titles,
           const std::string& name, const std::string& text) {
  return tests::eventually([&] {
    host.frame(panels, titles);
    return shows(panels, name, text);
  });
}

void frames(const tests::NullHost& host, PanelHost& panels, const std::vector<std::string>& titles,
            int count) {
  for (int i = 0; i < count; ++i) host.frame(panels, titles);
}

void click(const tests::NullHost& host, PanelHost& panels, const std::vector<std::string>& titles,
           ImVec2 at) {
  play_mouse(at);
  frames(host, panels, titles, 2);
  play_button(ImGuiMouseButton_Left, true);
  frames(host, panels, titles, 2);
  play_button(ImGuiMouseButton_Left, false);
  frames(host, panels, titles, 2);
}

// The first item of this name whose text has these words; it must be shown.
Description::Item item_of(PanelHost& panels, const std::string& name, const std::string& text) {
  for (const Description::Item& item : panels.shown().items())
    if (item.name == name && item.text.find(text) != item.text.npos) return item;
  FAIL("not shown: ", name, " ", text);
  return {};
}

ImVec2 middle(const Description::Item& item) {
  return {(item.min.x + item.max.x) / 2, (item.min.y + item.max.y) / 2};
}

}  // namespace

TEST_CASE("a host draws the tape and the curves of its own run") {
  const tests::NullHost host;
  int events = 0;
  {
    PanelHost panels({.font = host.font(), .on_event = [&](const Event&) { ++events; }});
    const std::vector<std::string> titles = panels.titles();
    for (const char* title : {"Tape", "Curves"})
      CHECK(std::find(titles.begin(), titles.end(), title) != titles.end());
    panels.shown();
    panels.run_text(kScript, "=embedded", {.write_run = false});
    CHECK(comes(host, panels, {"Tape", "Curves"}, "curves.chart", "loss"));
    CHECK(comes(host, panels, {"Tape", "Curves"}, "tape.node", "sum"));
    CHECK(panels.session().wait() == Outcome::ok);
    CHECK(host.frame(panels, {"Tape", "Curves"}) > 500);

    // A second run replaces the first; an unknown panel is an error of the host.
    panels.run_text("print('nothing to see')", "=empty", {.write_run = false});
    CHECK(panels.session().wait() == Outcome::ok);
    CHECK(comes(host, panels, {"Console"}, "console.line", "nothing to see"));
    CHECK_THROWS_WITH(host.frame(panels, {"Console", "Carves"}), "PanelHost: there is no panel \"Carves\"");
    ImGui::End();
    ImGui::EndFrame();
  }
  CHECK(events > 20);
}

TEST_CASE("in a host's window only the panel that was clicked gets its keys") {
  const tests::NullHost host;
  PanelHost panels({.font = host.font()});
  const std::vector<std::string> titles{"Tape", "Curves"};
  panels.shown();
  panels.run_text(kScript, "=embedded", {.write_run = false});
  REQUIRE(comes(host, panels, titles, "tape.node", "sum"));
  CHECK(panels.session().wait() == Outcome::ok);
  const auto press = [&](int key) {
    play_key(key, true);
    frames(host, panels, titles, 2);
    play_key(key, false);
    frames(host, panels, titles, 2);
  };
  click(host, panels, titles, {600, 560});  // the other panel
  press(GLFW_KEY_N);
  CHECK_FALSE(shows(panels, "tape.node", "playhead"));
  click(host, panels, titles, {100, 560});  // an empty place of the tape
  press(GLFW_KEY_N);
  CHECK(shows(panels, "tape.node", "playhead"));
}

TEST_CASE("in a host's window the answer to Why? is in the panel that asked") {
  const tests::NullHost host;
  PanelHost panels({.font = host.font()});
  const std::vector<std::string> titles{"Tape", "Inspector"};
  panels.shown();
  panels.run_text(kScript, "=embedded", {.write_run = false});
  REQUIRE(comes(host, panels, titles, "tape.node", "sum"));
  CHECK(panels.session().wait() == Outcome::ok);
  frames(host, panels, titles, 5);
  click(host, panels, titles, middle(item_of(panels, "tape.node", "sum")));
  REQUIRE(comes(host, panels, titles, "inspector.why", "Why?"));
  CHECK_FALSE(shows(panels, "why.subject", "Why?"));
  click(host, panels, titles, middle(item_of(panels, "inspector.why", "Why?")));
  REQUIRE(comes(host, panels, titles, "why.subject", "sum"));
  CHECK(shows(panels, "why.link", ""));
  const Description::Item answer = item_of(panels, "why.subject", "sum");
  CHECK(answer.min.x >= 500);  // the second of two windows, each as wide as a half
  CHECK(shows(panels, "inspector.op", "sum"));
  click(host, panels, titles, middle(item_of(panels, "why.close", "")));
  CHECK_FALSE(shows(panels, "why.subject", ""));
}

TEST_CASE("a host's panels can be destroyed while a run continues") {
  const tests::NullHost host;
  PanelHost panels({.font = host.font()});
  panels.run_text("while true do end", "=endless", {.write_run = false});
  for (int i = 0; i < 3; ++i) host.frame(panels, panels.titles());
}
