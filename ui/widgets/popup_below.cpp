#include "ui/widgets/popup_below.h"

#include "ui/window/theme.h"

namespace lunagrad {

bool begin_popup_below(const char* name, ImVec2 min, ImVec2 max) {
  const ImGuiViewport& window = *ImGui::GetMainViewport();
  const bool right = (min.x + max.x) / 2 > window.Pos.x + window.Size.x / 2;
  ImGui::SetNextWindowPos({right ? max.x : min.x, max.y + em(0.2f)}, ImGuiCond_Always,
                          {right ? 1.0f : 0.0f, 0});
  return ImGui::BeginPopup(name);
}

}  // namespace lunagrad
