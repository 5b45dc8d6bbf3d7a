#pragma once
// A tooltip for a place in a picture. It stays inside the picture, so that it does not hide the surroundings,
// for example the numbers of a neighbour. Drawing thread only.
#include <imgui.h>

#include <string>

namespace lunagrad {

// The corner of a tooltip of `size`: next to the mouse and inside the rectangle; above or below it if the
// tooltip is too wide.
ImVec2 tip_corner(ImVec2 mouse, ImVec2 size, ImVec2 min, ImVec2 max);

struct ShownTip {
  std::string text;
  ImVec2 min, max;
};
ShownTip show_tip(const std::string& text, ImVec2 min, ImVec2 max);

}  // namespace lunagrad
