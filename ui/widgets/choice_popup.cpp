#include "ui/widgets/choice_popup.h"

#include <GLFW/glfw3.h>

#include <algorithm>

#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr int kRows = 10;

}  // namespace

int ChoicePopup::take_keys(int count) {
  if (key_pressed(GLFW_KEY_ESCAPE)) return -2;
  if (count == 0) return -1;
  if (key_pressed(GLFW_KEY_DOWN)) chosen_ = (chosen_ + 1) % count;
  if (key_pressed(GLFW_KEY_UP)) chosen_ = (chosen_ + count - 1) % count;
  chosen_ = std::min(chosen_, count - 1);
  first_ = std::clamp(first_, std::max(0, chosen_ - kRows + 1), chosen_);
  const bool taken =
      key_pressed(GLFW_KEY_ENTER) || key_pressed(GLFW_KEY_KP_ENTER) || key_pressed(GLFW_KEY_TAB);
  return taken ? chosen_ : -1;
}

int ChoicePopup::draw(int count, const std::function<Choice(int)>& choice, ImVec2 at, float line_height,
                      const std::function<void(int, ImVec2, ImVec2)>& on_row) {
  if (count == 0) return -1;
  chosen_ = std::clamp(chosen_, 0, count - 1);
  first_ = std::clamp(first_, 0, std::max(0, count - kRows));
  const int rows = std::min(count, kRows);
  const float spacing = ImGui::GetTextLineHeightWithSpacing();
  const ImVec2 screen = ImGui::GetMainViewport()->Size, corner = ImGui::GetMainViewport()->Pos;
  const std::string& help = choice(chosen_).help;
  const float width = std::min(em(30), screen.x - em(1));
  const float help_height =
      help.empty() ? 0 : ImGui::CalcTextSize(help.c_str(), nullptr, false, width - em(1.2f)).y + em(0.8f);
  const float height = std::min(float(rows) * spacing + help_height + em(1), screen.y);
  ImVec2 position{std::clamp(at.x, corner.x, std::max(corner.x, corner.x + screen.x - width)), at.y};
  if (at.y + height > corner.y + screen.y) position.y = std::max(corner.y, at.y - line_height - height);
  ImGui::SetNextWindowPos(position);
  ImGui::SetNextWindowSize({width, height});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, theme().raised);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {em(0.5f), em(0.4f)});
  ImGui::Begin("##choices", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav);
  if (ImGui::IsWindowHovered() && ImGui::GetIO().MouseWheel != 0)
    first_ = std::clamp(first_ - int(ImGui::GetIO().MouseWheel), 0, std::max(0, count - kRows));
  int taken = -1;
  ImGui::PushFont(fonts().mono);
  for (int i = first_; i < std::min(first_ + rows, count); ++i) {
    const Choice shown = choice(i);
    ImGui::PushID(i);
    if (ImGui::Selectable("##row", i == chosen_)) taken = i;
    const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    if (on_row) on_row(i, min, max);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float y = min.y + (max.y - min.y - ImGui::GetTextLineHeight()) / 2;
    list->AddText({min.x + em(0.3f), y}, theme().text, shown.name.c_str());
    list->AddText({min.x + em(0.9f) + ImGui::CalcTextSize(shown.name.c_str()).x, y}, theme().muted,
                  shown.detail.c_str());
    ImGui::PopID();
  }
  ImGui::PopFont();
  if (!help.empty()) {
    ImGui::Separator();
    ImGui::PushTextWrapPos(width - em(0.6f));
    text_in(theme().muted, "%s", help.c_str());
    ImGui::PopTextWrapPos();
  }
  ImGui::End();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  return taken;
}

}  // namespace lunagrad
