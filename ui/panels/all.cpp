#include <algorithm>

#include "ui/window/theme.h"
#include "ui/workbench/panel.h"

namespace lunagrad {

#define PANEL(name) std::unique_ptr<Panel> make_##name##_panel();
#include "ui/panels/panels.def"
#undef PANEL

std::vector<std::unique_ptr<Panel>> make_panels() {
  std::vector<std::unique_ptr<Panel>> panels;
#define PANEL(name) panels.push_back(make_##name##_panel());
#include "ui/panels/panels.def"
#undef PANEL
  return panels;
}

bool tool_button(const char* label, bool on) {
  if (on) {
    ImGui::PushStyleColor(ImGuiCol_Button, with_alpha(theme().accent, 0.3f));
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, with_alpha(theme().accent, 0.4f));
  }
  const bool pressed = ImGui::Button(label);
  if (on) ImGui::PopStyleColor(2);
  return pressed;
}

void draw_empty(const char* headline, const char* sentence) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float wrap = std::min(room.x - em(2), em(26));
  if (wrap < em(4)) return;
  const ImVec2 size = ImGui::CalcTextSize(sentence, nullptr, false, wrap);
  const float height = size.y + em(1.6f), left = ImGui::GetCursorPosX();
  ImGui::SetCursorPosY(ImGui::GetCursorPosY() + std::max(0.0f, (room.y - height) / 2));
  ImGui::PushFont(fonts().bold);
  ImGui::SetCursorPosX(left + (room.x - ImGui::CalcTextSize(headline).x) / 2);
  text_in(theme().muted, "%s", headline);
  ImGui::PopFont();
  const float start = left + (room.x - size.x) / 2;
  ImGui::SetCursorPosX(start);
  ImGui::PushTextWrapPos(start + wrap);
  text_in(theme().faint, "%s", sentence);
  ImGui::PopTextWrapPos();
}

}  // namespace lunagrad
