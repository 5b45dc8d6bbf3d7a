#include "ui/text/diff_view.h"

#include <algorithm>

#include "ui/window/theme.h"

namespace lunagrad {

void draw_diff(const char* id, const std::vector<DiffRow>& rows, ImVec2 size, const DiffColors& colors,
               int reveal, const std::function<void(const DiffRow&)>& on_row) {
  ImGui::BeginChild(id, size, false, ImGuiWindowFlags_HorizontalScrollbar);
  ImGui::PushFont(fonts().mono);
  float numbers = 0;
  for (const DiffRow& row : rows) numbers = std::max(numbers, float(row.numbers.size()));
  const float digit = ImGui::CalcTextSize("0").x, indent = digit * (numbers + 1);
  ImDrawList* list = ImGui::GetWindowDrawList();
  if (reveal >= 0) ImGui::SetScrollY(float(reveal) * ImGui::GetTextLineHeightWithSpacing() - size.y / 3);
  ImGuiListClipper clipper;
  clipper.Begin(int(rows.size()), ImGui::GetTextLineHeightWithSpacing());
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const DiffRow& row = rows[size_t(i)];
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const ImVec2 end{ImGui::GetWindowPos().x + ImGui::GetWindowWidth(),
                       at.y + ImGui::GetTextLineHeightWithSpacing()};
      const ImU32 ground = row.sign == '+' ? colors.added : row.sign == '-' ? colors.removed : 0;
      if (ground) list->AddRectFilled({ImGui::GetWindowPos().x, at.y}, end, with_alpha(ground, 0.18f));
      text_in(colors.muted, "%s", row.numbers.c_str());
      ImGui::SameLine(indent);
      text_in(row.sign == '@' ? colors.muted : colors.text, "%c %s", row.sign == '@' ? ' ' : row.sign,
              row.text.c_str());
      if (on_row) on_row(row);
    }
  ImGui::PopFont();
  ImGui::EndChild();
}

}  // namespace lunagrad
