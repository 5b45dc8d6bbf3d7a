#pragma once
// Draws the icons of the run's controls, and stars. Drawing thread only.
#include <imgui.h>

namespace lunagrad {

enum class Icon { play, pause, step, step_op, stop, restart, menu };

// Draws the icon in the square of `size` pixels at `at`.
void draw_icon(ImDrawList*, Icon, ImVec2 at, float size, ImU32 color);

void draw_star(ImDrawList*, ImVec2 middle, float radius, bool filled, ImU32 color);

}  // namespace lunagrad
