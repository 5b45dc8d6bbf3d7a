#include "ui/panels/alarm_badge.h"

#include <algorithm>
#include <vector>

#include "ui/base/counted.h"
#include "ui/panels/why_strip.h"
#include "ui/widgets/popup_at_button.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr size_t kMostGroups = 7;  // one for each rule

// The alarm's node on the shown tape; -1: it is not there.
int node_of(Workbench& bench, const Alarm& alarm) {
  const TapeSnapshot* const tape = bench.tape().tape();
  if (!tape) return -1;
  const int exact = bench.tape().find_node(alarm.node);
  return exact >= 0 || alarm.op.empty() ? exact : node_at(*tape, alarm.op, alarm.place);
}

// Draws the buttons of an alarm. Returns true when the list should close.
bool draw_actions(Workbench& bench, const Alarm& alarm) {
  bool closes = false;
  const auto button = [&](const char* label, const char* item, const char* help) {
    ImGui::SameLine(0, em(0.4f));
    const bool pressed = ImGui::Button(label);
    bench.description().add_last(item, label);
    explain(help);
    closes |= pressed;
    return pressed;
  };
  ImGui::Dummy({em(0.5f), 1});
  ImGui::SameLine(0, 0);
  if (why_button(bench, "alarms.why", "Follows the causes of this alarm over what was recorded.")) {
    bench.why().ask_alarm(Alarm(alarm));
    closes = true;
  }
  if (button("Select", "alarms.select", "Selects its node on the tape.")) {
    if (const int node = node_of(bench, alarm); node >= 0) {
      bench.tape_actions().select(node);
      bench.shell().raise_panel("Inspector", "Tape");
    }
  }
  if (alarm.place.line > 0 && button("Show line", "alarms.line", "Opens its line in the editor."))
    bench.texts().go_to(SourcePlace(alarm.place));
  if (alarm.since > 0 && button("Show its first step", "alarms.step",
                                "Shows the step since which it holds in all panels. Live goes back."))
    bench.shown().go_to(alarm.since);
  if (alarm.kind == AlarmKind::nan && bench.journal().not_finite() &&
      button("Run again to the first NaN", "alarms.again",
             "Repeats the run and pauses at the operation that makes the first NaN or Inf."))
    bench.commands().run("Run again to the first NaN");
  return closes;
}

void draw_list(Workbench& bench) {
  // Copies, since an action may change the alarms.
  std::vector<std::pair<std::string, Alarm>> shown;
  for (const AlarmGroup& group : bench.gradients().alarms().groups())
    if (group.first->until == 0 && shown.size() < kMostGroups)
      shown.emplace_back(headline(group), *group.first);
  bool closes = false;
  for (size_t i = 0; i < shown.size(); ++i) {
    const auto& [head, alarm] = shown[i];
    ImGui::PushID(int(i));
    if (i > 0) ImGui::Separator();
    ImGui::PushTextWrapPos(em(36));
    text_in(alarm.kind <= AlarmKind::exploding ? theme().bad : theme().warning, "%s", head.c_str());
    bench.description().add_last("alarms.item", head);
    text_in(theme().text, "%s", advice(alarm).c_str());
    bench.description().add_last("alarms.advice", advice(alarm));
    ImGui::PopTextWrapPos();
    closes |= draw_actions(bench, alarm);
    ImGui::PopID();
  }
  if (shown.empty()) text_in(theme().good, "No alarms.");
  ImGui::Separator();
  if (ImGui::Button("Show in Gradients")) {
    bench.shell().show_panel("Gradients");
    closes = true;
  }
  bench.description().add_last("alarms.gradients", "");
  explain("Shows the panel with the norms of all parameters, and the alarms that are over.");
  if (closes) ImGui::CloseCurrentPopup();
}

}  // namespace

std::string alarm_badge(const Workbench& bench) {
  const Alarms& alarms = bench.gradients().alarms();
  const Alarm* const worst = alarms.worst();
  if (!worst) return {};
  const int count = alarms.active();
  if (count == 1 && worst->kind == AlarmKind::nan && worst->found) return {};
  const std::string& name = worst->name;
  return counted(count, "alarm") + ": " + (name.empty() ? alarm_rule(worst->kind).name : name);
}

float alarm_badge_width(const std::string& badge) { return ImGui::CalcTextSize(badge.c_str()).x + em(1.4f); }

void draw_alarm_badge(Workbench& bench, const std::string& badge) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), size{alarm_badge_width(badge), ImGui::GetFrameHeight()};
  const bool pressed = ImGui::InvisibleButton("##alarms", size);
  const bool hovered = ImGui::IsItemHovered();
  bench.description().add_last("alarm_badge", badge);
  const Alarm* const worst = bench.gradients().alarms().worst();
  const ImU32 color = worst && worst->kind <= AlarmKind::exploding ? theme().bad : theme().warning;
  explain("The run has alarms. Click: what they say, why, and what to do.");
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const ImVec2 corner{at.x + size.x, at.y + size.y};
  list->AddRectFilled(at, corner, with_alpha(color, hovered ? 0.45f : 0.28f), em(0.3f));
  list->AddRect(at, corner, color, em(0.3f));
  list->AddText({at.x + em(0.7f), at.y + ImGui::GetStyle().FramePadding.y}, theme().text, badge.c_str());
  if (pressed) ImGui::OpenPopup("alarms");
  if (!begin_popup_at_button("alarms", at, corner)) return;
  draw_list(bench);
  ImGui::EndPopup();
}

}  // namespace lunagrad
