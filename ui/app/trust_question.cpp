#include "ui/app/trust_question.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "ui/time/run_limits_text.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {
namespace {

constexpr const char* kTitle = "Somebody else made this###trust";

void show(const TrustController::Question& question, Description& description) {
  ImGui::PushTextWrapPos();
  ImGui::TextUnformatted(printable(question.name).c_str());
  text_in(theme().muted, "%s", printable(question.why).c_str());
  ImGui::Spacing();
  ImGui::Text("Its script %s begins:", printable(question.script).c_str());
  ImGui::PopTextWrapPos();
  ImGui::PushFont(fonts().mono);
  const float lines = float(question.begins.size() + (question.more > 0)) + 0.5f;
  ImGui::BeginChild("script", {0, lines * ImGui::GetTextLineHeightWithSpacing()}, true,
                    ImGuiWindowFlags_HorizontalScrollbar);
  for (const std::string& line : question.begins) ImGui::TextUnformatted(printable(line).c_str());
  if (question.more > 0)
    text_in(theme().muted, "and %zu more %s", question.more, question.more == 1 ? "line" : "lines");
  ImGui::EndChild();
  ImGui::PopFont();
  description.add_last("trust.script", question.begins.empty() ? "" : question.begins.front());
  ImGui::PushTextWrapPos();
  ImGui::TextUnformatted(
      "Trusted, it can read, change and send all of your files. In the sandbox it reads its own folder "
      "alone, "
      "and writes only the folder of the new run.");
  ImGui::PopTextWrapPos();
  ImGui::Spacing();
}

}  // namespace

void TrustQuestion::draw(Workbench& bench) {
  TrustController& trust = bench.control().trust();
  if (!trust.question()) {
    open_ = false;
    return;
  }
  if (!open_) ImGui::OpenPopup(kTitle);
  open_ = true;
  const ImVec2 window = ImGui::GetMainViewport()->Size;
  const float width = std::min(em(38), window.x - em(1));
  ImGui::SetNextWindowPos({(window.x - width) / 2, std::min(em(6), window.y / 4)});
  ImGui::SetNextWindowSize({width, 0});
  if (!ImGui::BeginPopupModal(kTitle, nullptr, ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove)) {
    trust.answer("no");
    return;
  }
  show(*trust.question(), bench.description());
  bench.description().add_last("trust", trust.question()->name);
  std::string answer;
  const auto choice = [&](const char* label, const char* word, const char* help) {
    if (ImGui::Button(label, {-1, 0})) answer = word;
    bench.description().add_last((std::string("trust.") + word).c_str(), label);
    explain(help);
  };
  RunOptions boxed = bench.control().options();
  boxed.sandbox = true;
  const std::string run_boxed = "Run it in the " + limits_label(boxed);
  choice(run_boxed.c_str(), "sandbox", "With the limits of an untrusted script: lunagrad help sandbox.");
  ImGui::SetItemDefaultFocus();
  choice("Trust it, now and later", "trust", "It runs with your rights. A change of its files asks again.");
  choice("Do not run it", "no", "Its curves and numbers stay. Escape.");
  if (key_pressed(GLFW_KEY_ESCAPE, false)) answer = "no";
  if (!answer.empty()) {
    trust.answer(answer);
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace lunagrad
