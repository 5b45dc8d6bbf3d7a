#pragma once
// Lines of a unified diff with signs and background colours. Draws only the visible lines. Drawing thread
// only.
#include <imgui.h>

#include <functional>
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
// `reveal`: scrolls to this row; -1: none. `on_row` is called for each visible row, which is Dear ImGui's
// last item.
void draw_diff(const char* id, const std::vector<DiffRow>&, ImVec2 size, const DiffColors&, int reveal = -1,
               const std::function<void(const DiffRow&)>& on_row = {});

}  // namespace lunagrad
