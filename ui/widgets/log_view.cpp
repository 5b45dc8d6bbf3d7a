#include "ui/widgets/log_view.h"

#include <algorithm>
#include <cmath>

#include "ui/theme.h"

namespace lunagrad {

// Breaks behind the last space that fits, inside a word only when it alone is too long.
void LogView::wrap(size_t count, const std::function<LogLine(size_t)>& line, int columns) {
  rows_.clear();
  for (size_t i = 0; i < count; ++i) {
    const std::string_view text = line(i).text;
    size_t begin = 0, space = 0;
    int column = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      const bool starts = (uint8_t(text[at]) & 0xc0) != 0x80;
      if (starts && column == columns) {
        const size_t cut = space > begin ? space : at;
        rows_.push_back({uint32_t(i), uint32_t(begin), uint32_t(cut)});
        begin = cut;
        column = 0;
        for (size_t k = cut; k < at; ++k) column += (uint8_t(text[k]) & 0xc0) != 0x80;
      }
      column += starts;
      if (text[at] == ' ') space = at + 1;
    }
    rows_.push_back({uint32_t(i), uint32_t(begin), uint32_t(text.size())});
  }
}

void LogView::draw(const char* id, size_t count, uint64_t revision,
                   const std::function<LogLine(size_t)>& line, ImVec2 size, ImU32 selection) {
  ImGui::BeginChild(id, size, false, ImGuiWindowFlags_NoNav);
  ImGui::PushFont(fonts().mono);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, em(0.12f)});
  const float advance = ImGui::CalcTextSize("0").x;
  const float available = ImGui::GetContentRegionAvail().x - em(0.4f);
  const int columns = std::max(8, int(available / advance));
  if (revision != revision_ || columns != columns_) {
    wrap(count, line, columns);
    revision_ = revision;
    columns_ = columns;
  }
  const bool hovered = ImGui::IsWindowHovered();
  if (hovered && ImGui::GetIO().MouseWheel > 0) follow_ = false;
  const int64_t low = std::min(anchor_, caret_), high = std::max(anchor_, caret_);
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGuiListClipper clipper;
  clipper.Begin(int(rows_.size()), ImGui::GetTextLineHeightWithSpacing());
  while (clipper.Step()) {
    for (int r = clipper.DisplayStart; r < clipper.DisplayEnd; ++r) {
      const Row& row = rows_[size_t(r)];
      const LogLine shown = line(row.line);
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const ImVec2 end{at.x + available, at.y + ImGui::GetTextLineHeightWithSpacing()};
      if (int64_t(row.line) >= low && int64_t(row.line) <= high && low >= 0)
        list->AddRectFilled(at, end, selection);
      if (hovered && ImGui::IsMouseHoveringRect(at, end)) {
        if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
          caret_ = row.line;
          if (!ImGui::GetIO().KeyShift || anchor_ < 0) anchor_ = caret_;
        } else if (ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
          caret_ = row.line;
        }
      }
      ImGui::PushStyleColor(ImGuiCol_Text, shown.color);
      ImGui::TextUnformatted(shown.text.data() + row.begin, shown.text.data() + row.end);
      ImGui::PopStyleColor();
    }
  }
  clipper.End();
  if (hovered && low >= 0 && ImGui::GetIO().KeyCtrl &&
      ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_C), false)) {
    std::string text;
    for (int64_t i = low; i <= std::min(high, int64_t(count) - 1); ++i) {
      text += line(size_t(i)).text;
      text += '\n';
    }
    ImGui::SetClipboardText(text.c_str());
  }
  if (follow_)
    ImGui::SetScrollY(ImGui::GetScrollMaxY());
  else if (ImGui::GetScrollY() >= ImGui::GetScrollMaxY() && !(ImGui::GetIO().MouseWheel > 0))
    follow_ = true;
  ImGui::PopStyleVar();
  ImGui::PopFont();
  ImGui::EndChild();
}

}  // namespace lunagrad
