#pragma once
// Lines of a unified diff with signs and background colours. Draws only the visible lines. Drawing thread
// only.
#include <imgui.h>

#include <string>
#include <vector>

namespace lunagrad {

struct DiffRow {
  char sign = ' ';  // ' ', '-', '+', '@'
  std::string numbers, text;
};
struct DiffColors {
  ImU32 added, removed, text, muted;
};
void draw_diff(const char* id, const std::vector<DiffRow>&, ImVec2 size, const DiffColors&);

}  // namespace lunagrad
