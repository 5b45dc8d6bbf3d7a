#pragma once
// The window without a window: toolbar and panels in a frame of 1280 x 800, which displays nothing. Tests
// read what is shown from the workbench's description, as drives do.
#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/figures.h"
#include "tests/ui/null_host.h"
#include "ui/app/regions.h"
#include "ui/panels/toolbar.h"

namespace lunagrad::tests {

// A user can pause the run. `folder`: the run is written, so that its steps can be repeated.
inline RunOptions interactive_run(bool folder = false) {
  RunOptions options;
  options.write_run = folder;
  options.interactive = true;
  return options;
}

class Screen {
 public:
  explicit Screen(RunOptions options = interactive_run())
      : fonts_({.font = host_.font()}), bench_("", std::move(options), [] {}), regions_(panels_) {
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

  // The first item of this name whose text contains `text`; null if none is shown.
  const Description::Item* item(const std::string& name, const std::string& text = "") {
    const auto& items = bench_.description().items();
    const auto found = std::find_if(items.begin(), items.end(), [&](const Description::Item& item) {
      return item.name == name && item.text.find(text) != item.text.npos;
    });
    return found == items.end() ? nullptr : &*found;
  }
  bool shows(const std::string& name, const std::string& text) { return item(name, text) != nullptr; }

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
      const std::string number = std::to_string(step->step), figure = count_figure(step->step);
      const bool said =
          names("panel.step", step->former ? title + ": previous run" : title + ": step " + figure) ||
          (title == "Tape" &&
           names("tape.summary", "step " + number + (step->former ? " of the previous run" : ""))) ||
          (title == "Inspector" && !step->former && names("inspector.step", "step " + number));
      if (!said)
        found += title + " shows step " + number + ", the cursor is at " + std::to_string(cursor) + "\n";
    }
    return found;
  }

  Workbench& bench() { return bench_; }
  const std::vector<std::unique_ptr<Panel>>& panels() const { return panels_; }
  int named() const { return named_; }  // steps that differed from the cursor's

 private:
  // Whether the item says so, and does not go on with another digit.
  bool names(const std::string& name, const std::string& words) {
    const Description::Item* const shown = item(name, words);
    if (!shown) return false;
    const size_t end = shown->text.find(words) + words.size();
    return end == shown->text.size() || !std::isdigit(static_cast<unsigned char>(shown->text[end]));
  }

  const NullHost host_;
  const PanelHost fonts_;
  Workbench bench_;
  std::vector<std::unique_ptr<Panel>> panels_ = make_panels();
  Regions regions_;
  Toolbar toolbar_{[] {}};
  int named_ = 0;
};

}  // namespace lunagrad::tests
