#pragma once
// A popup at the button that opens it: it covers neither the button nor the row that the button is in.
#include <imgui.h>

namespace lunagrad {

// As ImGui::BeginPopup, for a popup that ImGui::OpenPopup opened: below the rectangle from `min` to `max`, in
// pixels of the screen, or above it in the lower half of the window, and aligned with its left side, or with
// its right side in the right half. Returns whether the popup is open; then the caller ends it with
// ImGui::EndPopup. Drawing thread only.
bool begin_popup_at_button(const char* name, ImVec2 min, ImVec2 max);

}  // namespace lunagrad
