#pragma once
// Lines of a unified diff, signs before them and colours behind. Draws only the lines that are visible.
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
