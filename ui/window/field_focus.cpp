#include "ui/window/field_focus.h"

#include <imgui.h>

namespace lunagrad {
namespace {

// Dear ImGui moves the focus in the next frame, in which it still drops text; a popup that appears takes one
// more.
constexpr int kFrames = 3;
int frames_left = 0;

}  // namespace

void focus_next_field() {
  // Dear ImGui 1.90 finds a field of a child window only if that window has the focus.
  ImGui::SetWindowFocus();
  ImGui::SetKeyboardFocusHere();
  frames_left = kFrames;
}

bool input_waits() { return frames_left > 0 && frames_left-- > 0; }

}  // namespace lunagrad
