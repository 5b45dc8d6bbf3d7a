#pragma once
// The signs of the run's controls, drawn. Drawing thread only.
#include <imgui.h>

namespace lunagrad {

enum class Icon { play, pause, step, step_op, stop, restart, menu };

// Within the square of `size` pixels at `at`.
void draw_icon(ImDrawList*, Icon, ImVec2 at, float size, ImU32 color);

}  // namespace lunagrad
