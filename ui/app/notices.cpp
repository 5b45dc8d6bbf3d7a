#include "ui/app/notices.h"

#include <algorithm>
#include <filesystem>

#include "runtime/core/figures.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

std::string silence_sentence(const Workbench& bench) {
  const std::optional<Silence> silence = bench.session().silence();
  if (!silence || silence->seconds < Notices::kPatience) return {};
  const std::string seconds = std::to_string(int(silence->seconds));
  if (silence->call.empty())
    return "The script has not answered for " + seconds + " s: an operation is still running.";
  return "The script has not answered for " + seconds + " s: it is in " + silence->call + ", called at " +
         printable(std::filesystem::path(silence->place.file).filename().string()) + ":" +
         std::to_string(silence->place.line) + ".";
}

int Notices::bar(Workbench& bench, const char* item, const std::string& sentence,
                 const std::vector<Choice>& choices, float width, unsigned color) {
  const float gap = em(0.4f), padding = 2 * ImGui::GetStyle().FramePadding.x;
  float buttons = 0;
  for (const Choice& choice : choices) buttons += ImGui::CalcTextSize(choice.label).x + padding + gap;
  // In a narrow window the buttons are below the text.
  const bool beside = width - buttons - em(2) >= em(12);
  const float wrap = std::max(width - em(1.2f) - (beside ? buttons + em(0.8f) : 0), em(4));
  const ImVec2 text = ImGui::CalcTextSize(sentence.c_str(), nullptr, false, wrap);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float row = ImGui::GetFrameHeight();
  const float height = (beside ? std::max(text.y, row) : text.y + row + gap) + em(0.5f);
  ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + width, at.y + height}, with_alpha(color, 0.18f),
                                            em(0.3f));
  ImGui::SetCursorScreenPos({at.x + em(0.6f), beside ? at.y + (height - text.y) / 2 : at.y + em(0.25f)});
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + wrap);
  ImGui::TextUnformatted(sentence.c_str());
  ImGui::PopTextWrapPos();
  bench.description().add_last(item, sentence);
  int pressed = -1;
  float x = beside ? at.x + width - buttons : at.x + em(0.6f);
  for (size_t i = 0; i < choices.size(); ++i) {
    ImGui::SetCursorScreenPos({x, beside ? at.y + em(0.25f) : at.y + text.y + gap});
    if (ImGui::Button(choices[i].label)) pressed = int(i);
    bench.description().add_last(choices[i].item, choices[i].label);
    explain(choices[i].help);
    x += ImGui::GetItemRectSize().x + gap;
  }
  ImGui::SetCursorScreenPos({at.x, at.y + height + em(0.5f)});
  return pressed;
}

void Notices::draw_failure(Workbench& bench, float width) {
  const std::optional<FailureNote>& failure = bench.journal().failure();
  if (!failure) return;
  std::vector<Choice> choices;
  const PausePtr& pause = bench.journal().pause();
  const std::string go_on = pause && pause->good_step >= 0
                                ? "Go on from step " + count_figure(pause->good_step)
                                : std::string("Go on");
  // At the latest step the row above has the line and the button.
  const bool above = pause && pause->reason == PausePosition::Reason::error && bench.shown().live();
  if (!above && failure->place.line > 0)
    choices.push_back({"Show line", "failure.line", "Opens the line in the editor."});
  if (!above && failure->ended && !bench.journal().active())
    choices.push_back({go_on.c_str(), "failure.go_on",
                       "Saves the texts, then continues after the last good step with the changed script. "
                       "States of lg.run.state are restored; a script without them starts over."});
  choices.push_back({"Dismiss", "failure.dismiss", "The error stays in the console."});
  const int pressed = bar(bench, "failure", failure->text, choices, width, theme().bad);
  if (pressed < 0) return;
  const std::string item = choices[size_t(pressed)].item;
  if (item == "failure.line")
    bench.texts().go_to(SourcePlace(failure->place));
  else if (item == "failure.go_on")
    bench.commands().run("Go on from the last good step");
  else
    bench.control().dismiss_failure();
}

bool Notices::draw(Workbench& bench, float width) {
  draw_failure(bench, width);
  if (const std::string silence = silence_sentence(bench); !silence.empty()) {
    static const std::vector<Choice> choices = {
        {"Interrupt", "silence.interrupt", "Stops the script as soon as that call returns."},
        {"Save texts and restart", "silence.restart",
         "Restarts the window without the run. All texts are kept; the script is opened but not run."}};
    const int pressed = bar(bench, "silence", silence, choices, width, theme().warning);
    if (pressed == 0) bench.control().interrupt();
    return pressed == 1;
  }
  if (bench.shell().notices().empty()) return false;
  const Shell::Notice notice = bench.shell().notices().front();
  std::vector<Choice> choices;
  if (!notice.label.empty()) choices.push_back({notice.label.c_str(), "notice.action", notice.help.c_str()});
  choices.push_back({"Dismiss", "notice.dismiss", "The message stays in the console."});
  const int pressed = bar(bench, "notice", notice.sentence, choices, width, theme().warning);
  if (pressed < 0) return false;
  bench.shell().dismiss_notice();
  if (pressed == 0 && notice.action) notice.action();
  return false;
}

}  // namespace lunagrad
