#include "ui/app/closing.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cstdio>

#include "ui/window/input.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

bool Closing::request(const Workbench& bench) {
  if (!bench.journal().active() || state_ == State::now) return true;
  if (state_ == State::none) {
    state_ = State::asking;
    opening_ = true;
  }
  return false;
}

bool Closing::draw(Workbench& bench) {
  if (state_ == State::none) return false;
  const Journal& journal = bench.journal();
  // If the run ends while the question is shown, the question is answered.
  if (!journal.active()) return true;
  if (opening_) ImGui::OpenPopup("A run is going on");
  opening_ = false;
  const ImVec2 window = ImGui::GetMainViewport()->Size;
  const float width = std::min(em(30), window.x - em(1));
  ImGui::SetNextWindowPos({(window.x - width) / 2, std::min(em(6), window.y / 4)});
  ImGui::SetNextWindowSize({width, 0});
  if (!ImGui::BeginPopupModal("A run is going on", nullptr,
                              ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove)) {
    state_ = State::none;
    return false;
  }
  ImGui::PushTextWrapPos();
  if (state_ == State::asking) {
    const auto step = static_cast<long long>(journal.step()), total = static_cast<long long>(journal.total());
    if (total > 0)
      ImGui::Text("Step %lld of %lld. What is to become of the run?", step, total);
    else
      ImGui::Text("Step %lld. What is to become of the run?", step);
  } else {
    ImGui::TextUnformatted("The run stops at the end of its step, and the window closes then.");
  }
  ImGui::PopTextWrapPos();
  bench.description().add_last("closing", state_ == State::asking ? "asks" : "stopping");
  const auto choice = [&](const char* label, const char* item, const char* help) {
    const bool chosen = ImGui::Button(label, {-1, 0});
    bench.description().add_last(item, label);
    explain(help);
    return chosen;
  };
  if (state_ == State::asking) {
    if (choice("Stop with a checkpoint, then close", "closing.stop",
               "The step ends, and what lg.run.state registered is written to the run's folder, so that "
               "lunagrad run --resume goes on from there.")) {
      bench.control().stop();
      state_ = State::stopping;
    }
    ImGui::SetItemDefaultFocus();
  }
  if (choice("End at once", "closing.now",
             "Interrupts the script amid its step; what it has done since its last checkpoint is lost.")) {
    bench.control().interrupt();
    state_ = State::now;
  }
  if (state_ == State::asking &&
      (choice("Go on", "closing.go_on", "The window stays open and the run goes on. Escape does the same.") ||
       key_pressed(GLFW_KEY_ESCAPE, false))) {
    ImGui::CloseCurrentPopup();
    state_ = State::none;
  }
  ImGui::EndPopup();
  return state_ == State::now;
}

}  // namespace lunagrad
