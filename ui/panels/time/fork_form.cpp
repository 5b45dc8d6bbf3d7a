#include "ui/panels/time/fork_form.h"

#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "ui/panels/time/form_width.h"
#include "ui/panels/time/track.h"
#include "ui/runs/list.h"
#include "ui/widgets/popup_at_button.h"
#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

void ForkForm::open(Workbench& bench, const std::string& folder, int64_t step) {
  folder_ = folder;
  step_ = int(step);
  edited_ = false;
  values_.clear();
  opens_ = true;
  bench.control().forks().look_at(folder.empty() ? bench.journal().run_folder() : folder);
}

// The window knows steps of its own run that are not in the folder yet.
int64_t ForkForm::last_step(Workbench& bench, const RunRecord& run) const {
  return folder_.empty() ? std::max(run.steps, bench.shown().last_step()) : run.steps;
}

void ForkForm::draw(Workbench& bench, const ScreenArea& button) {
  if (std::exchange(opens_, false)) ImGui::OpenPopup("fork");
  ImGui::PushStyleColor(ImGuiCol_PopupBg, theme().panel);  // its buttons contrast with it
  const bool open = begin_popup_at_button("fork", button.min, button.max);
  ImGui::PopStyleColor();
  if (!open) return;
  const ForkController& forks = bench.control().forks();
  if (const RunRecord* const run = forks.offer()) {
    const std::string title = "Go on from a step of " + short_run_name(run->name);
    bold_text(title);
    bench.description().add_last("fork.title", title);
    ImGui::PushTextWrapPos(em(kFormWidth));
    text_in(theme().muted,
            "A new run with the states of that step, in a folder of its own. Without a change it equals this "
            "run bit for bit.");
    ImGui::PopTextWrapPos();
    draw_step(bench, *run);
    draw_script(bench, *run);
    draw_params(bench, *run);
    draw_start(bench, *run);
  } else if (!forks.problem().empty()) {
    ImGui::PushTextWrapPos(em(kFormWidth));
    text_in(theme().bad, "%s", forks.problem().c_str());
    ImGui::PopTextWrapPos();
  } else {
    text_in(theme().muted, "Reading the run");
  }
  ImGui::EndPopup();
}

void ForkForm::draw_step(Workbench& bench, const RunRecord& run) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("after step");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(em(9));
  ImGui::InputInt("##step", &step_);
  bench.description().add_last("fork.step", std::to_string(step_));
  const int64_t first = run.parent_step + 1, last = last_step(bench, run);
  explain(("The first step of the new run is the one behind it. " + std::to_string(first) + " to " +
           std::to_string(last) + ".")
              .c_str());
  ImGui::SameLine();
  std::string cost = "of " + std::to_string(last);
  if (folder_.empty() && step_ >= first && step_ <= last)
    cost += ", " + cost_text(bench.shown().cost(step_), first);
  text_in(theme().muted, "%s", cost.c_str());
  bench.description().add_last("fork.cost", cost);
}

void ForkForm::draw_script(Workbench& bench, const RunRecord& run) {
  const std::string name = file_name(run.script);
  const auto choice = [&](const char* label, bool edited, const std::string& help) {
    if (tool_button(label, edited_ == edited)) edited_ = edited;
    bench.description().add_last("fork.script", std::string(label) + (edited_ == edited ? " on" : ""));
    explain(help.c_str());
  };
  choice("Script as it was", false, "The text of " + name + " that ran in that step.");
  ImGui::SameLine(0, em(0.25f));
  choice("Script as it is now", true,
         "The text of " + run.script +
             " with the changes that were made since. What it registers with "
             "lg.run.state gets the states, as in a reload.");
}

void ForkForm::draw_params(Workbench& bench, const RunRecord& run) {
  const std::map<std::string, std::string> params = params_at(run, step_);
  if (params.empty()) return;
  const float height = std::min(float(params.size()), 8.0f) * ImGui::GetFrameHeightWithSpacing();
  ImGui::BeginChild("parameters", {em(kFormWidth), height});
  for (const auto& [name, value] : params) {
    ImGui::PushID(name.c_str());
    char text[256];
    const auto typed = values_.find(name);
    std::snprintf(text, sizeof text, "%s", (typed == values_.end() ? value : typed->second).c_str());
    ImGui::SetNextItemWidth(em(9));
    if (ImGui::InputText("##value", text, sizeof text)) {
      if (text == value)
        values_.erase(name);
      else
        values_[name] = text;
    }
    bench.description().add_last("fork.param", name + " " + text);
    explain(("Its value in step " + std::to_string(step_) + " is " + value + ".").c_str());
    ImGui::SameLine();
    text_in(values_.count(name) ? theme().warning : theme().text, "%s%s", name.c_str(),
            values_.count(name) ? (", was " + value).c_str() : "");
    ImGui::PopID();
  }
  ImGui::EndChild();
}

void ForkForm::draw_start(Workbench& bench, const RunRecord& run) {
  const int64_t first = run.parent_step + 1, last = last_step(bench, run);
  const bool possible = step_ >= first && step_ <= last;
  if (!possible) {
    const std::string range =
        last < first ? std::string("This run has no steps.")
                     : "The steps are " + std::to_string(first) + " to " + std::to_string(last) + ".";
    text_in(theme().bad, "%s", range.c_str());
    bench.description().add_last("fork.problem", range);
  } else if (bench.journal().active()) {
    text_in(theme().warning, "The run of this window ends when the new one starts; its folder stays.");
  }
  ImGui::BeginDisabled(!possible);
  const bool pressed = ImGui::Button("Start the new run");
  ImGui::EndDisabled();
  bench.description().add_last("fork.start", possible ? "" : "not now");
  explain("Repeats the run up to that step for its states, then starts. Both curves are shown.");
  if (!pressed) return;
  bench.control().fork(folder_, step_, values_, edited_);
  ImGui::CloseCurrentPopup();
}

void ForkForm::draw_state(Workbench& bench) {
  ForkController& forks = bench.control().forks();
  if (const auto progress = forks.progress()) {
    const std::string text =
        "new run: repeats step " + std::to_string(progress->at) + " of " + std::to_string(progress->to);
    const float button = ImGui::CalcTextSize("Cancel").x + 3 * ImGui::GetStyle().FramePadding.x;
    ImGui::ProgressBar(float(progress->at) / float(std::max<int64_t>(progress->to, 1)),
                       {std::max(ImGui::GetContentRegionAvail().x - button - em(0.5f), em(4)), 0},
                       text.c_str());
    bench.description().add_last("fork.progress", text);
    ImGui::SameLine(0, em(0.4f));
    if (ImGui::Button("Cancel")) bench.actions().act("cancel_fork");
    bench.description().add_last("fork.cancel", "");
    explain("No new run starts, and nothing changes.");
  }
  if (const std::string problem = forks.problem(); !problem.empty()) {
    if (ImGui::SmallButton("\xc3\x97")) forks.dismiss_problem();
    explain("Hides this message.");
    ImGui::SameLine();
    ImGui::PushTextWrapPos(0);
    text_in(theme().bad, "No new run: %s", problem.c_str());
    ImGui::PopTextWrapPos();
    bench.description().add_last("fork.problem", problem);
  }
}

}  // namespace lunagrad
