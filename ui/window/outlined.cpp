#include "ui/window/outlined.h"

#include <imgui.h>

#include "ui/window/theme.h"

namespace lunagrad {
namespace {

template <class Draw>
bool outlined(Draw draw) {
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 1);
  ImGui::PushStyleColor(ImGuiCol_Border, theme().faint);
  const bool pressed = draw();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  return pressed;
}

}  // namespace

bool tick_box(const char* label, bool* on) {
  return outlined([&] { return ImGui::Checkbox(label, on); });
}

bool radio_button(const char* label, bool on) {
  return outlined([&] { return ImGui::RadioButton(label, on); });
}

}  // namespace lunagrad
