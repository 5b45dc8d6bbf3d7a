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
  // If the run ends while the question is shown, the window may close.
  if (!journal.active()) return true;
  const std::string title =
      std::string(journal.state() == SessionState::paused ? "Training is paused" : "Training is running") +
      "###closing";
  if (opening_) ImGui::OpenPopup(title.c_str());
  opening_ = false;
  const ImVec2 window = ImGui::GetMainViewport()->Size;
  const float width = std::min(em(30), window.x - em(1));
  ImGui::SetNextWindowPos({(window.x - width) / 2, std::min(em(6), window.y / 4)});
  ImGui::SetNextWindowSize({width, 0});
  if (!ImGui::BeginPopupModal(title.c_str(), nullptr, ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove)) {
    state_ = State::none;
    return false;
  }
  ImGui::PushTextWrapPos();
  if (state_ == State::asking) {
    const auto step = static_cast<long long>(journal.step()), total = static_cast<long long>(journal.total());
    if (total > 0)
      ImGui::Text("Step %lld of %lld.", step, total);
    else
      ImGui::Text("Step %lld.", step);
  } else {
    ImGui::TextUnformatted("Stopping at the end of this step, then closing.");
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
    const bool keeps = choice("Keep the window open", "closing.go_on", "The run stays as it is. Escape.");
    ImGui::SetItemDefaultFocus();
    if (keeps || key_pressed(GLFW_KEY_ESCAPE, false)) {
      ImGui::CloseCurrentPopup();
      state_ = State::none;
    }
    if (choice("Stop with a checkpoint", "closing.stop",
               "Finishes the step, saves a checkpoint and closes the window. lunagrad run --resume continues "
               "from there.")) {
      bench.commands().run("Stop");
      state_ = State::stopping;
    }
  }
  if (choice("Stop now, without a checkpoint", "closing.now",
             "Interrupts the step. Progress since the last checkpoint is lost.")) {
    bench.control().interrupt();
    state_ = State::now;
  }
  ImGui::EndPopup();
  return state_ == State::now;
}

}  // namespace lunagrad
