#include "ui/widgets/tip.h"

#include <algorithm>

#include "ui/window/theme.h"

namespace lunagrad {

ImVec2 tip_corner(ImVec2 mouse, ImVec2 size, ImVec2 min, ImVec2 max) {
  const float gap = em(1);
  const auto within = [](float at, float length, float low, float high) {
    return std::max(std::min(at, high - length), low);
  };
  const bool right = mouse.x + gap + size.x <= max.x, left = mouse.x - gap - size.x >= min.x;
  if (right || left)
    return {right ? mouse.x + gap : mouse.x - gap - size.x,
            within(mouse.y - size.y / 2, size.y, min.y, max.y)};
  const bool below = mouse.y + gap + size.y <= max.y;
  return {within(mouse.x - size.x / 2, size.x, min.x, max.x), below ? mouse.y + gap : mouse.y - gap - size.y};
}

ShownTip show_tip(const std::string& text, ImVec2 min, ImVec2 max) {
  const ImVec2 inside = ImGui::CalcTextSize(text.c_str()), pad = ImGui::GetStyle().WindowPadding;
  const ImVec2 size{inside.x + 2 * pad.x, inside.y + 2 * pad.y};
  const ImVec2 at = tip_corner(ImGui::GetIO().MousePos, size, min, max);
  ImGui::SetNextWindowPos(at);
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(text.c_str());
  ImGui::EndTooltip();
  return {text, at, {at.x + size.x, at.y + size.y}};
}

}  // namespace lunagrad
