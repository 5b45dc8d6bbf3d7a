#include "ui/widgets/popup_at_button.h"

#include "ui/window/theme.h"

namespace lunagrad {

bool begin_popup_at_button(const char* name, ImVec2 min, ImVec2 max) {
  const ImGuiViewport& window = *ImGui::GetMainViewport();
  const bool right = (min.x + max.x) / 2 > window.Pos.x + window.Size.x / 2;
  const bool low = (min.y + max.y) / 2 > window.Pos.y + window.Size.y / 2;
  ImGui::SetNextWindowPos({right ? max.x : min.x, low ? min.y - em(0.2f) : max.y + em(0.2f)},
                          ImGuiCond_Always, {right ? 1.0f : 0.0f, low ? 1.0f : 0.0f});
  return ImGui::BeginPopup(name);
}

}  // namespace lunagrad
