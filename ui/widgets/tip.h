#pragma once
// A tooltip about a place in a picture. It stays with the picture, so that what stands around it, as the
// figures of a neighbour, can be read meanwhile. Drawing thread only.
#include <imgui.h>

#include <string>

namespace lunagrad {

// Where a tip of `size` begins: beside the mouse and inside of the rectangle; what is too wide for that,
// above or below it.
ImVec2 tip_corner(ImVec2 mouse, ImVec2 size, ImVec2 min, ImVec2 max);

struct ShownTip {
  std::string text;
  ImVec2 min, max;
};
ShownTip show_tip(const std::string& text, ImVec2 min, ImVec2 max);

}  // namespace lunagrad
