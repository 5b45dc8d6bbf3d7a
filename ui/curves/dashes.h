#pragma once
// Dashed lines, which distinguish the curves of a chart in addition to their colours. Drawing thread only,
// except dash_pattern().
#include <imgui.h>

#include <vector>

namespace lunagrad {

// Cuts a polyline into dashes by its length on the screen.
void draw_dashed(ImDrawList*, const std::vector<ImVec2>&, ImU32 color, float width, int dash);
// Lengths of dash and gap, two of each, in pixels at scale 1; null for a solid line.
const float* dash_pattern(int dash);

}  // namespace lunagrad
