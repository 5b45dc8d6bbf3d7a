#include "ui/text/log_view.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {

// Breaks after the last space that fits; breaks inside a word only if the word alone is too long.
void LogView::wrap_line(uint64_t number, std::string_view text, int columns) {
  size_t begin = 0, space = 0;
  int column = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool starts = (uint8_t(text[at]) & 0xc0) != 0x80;
    if (starts && column == columns) {
      const size_t cut = space > begin ? space : at;
      rows_.push_back({number, uint32_t(begin), uint32_t(cut)});
      begin = cut;
      column = 0;
      for (size_t k = cut; k < at; ++k) column += (uint8_t(text[k]) & 0xc0) != 0x80;
    }
    column += starts;
    if (text[at] == ' ') space = at + 1;
  }
  rows_.push_back({number, uint32_t(begin), uint32_t(text.size())});
}

// Always wraps the last line again: it may have grown.
void LogView::wrap(const LogContent& content, int columns) {
  if (content.version != version_ || columns != columns_) {
    version_ = content.version;
    columns_ = columns;
    rows_.clear();
    next_ = content.first;
  }
  while (!rows_.empty() && rows_.front().line < content.first) rows_.pop_front();
  next_ = std::max(next_, content.first);
  if (next_ > content.first) --next_;
  while (!rows_.empty() && rows_.back().line >= next_) rows_.pop_back();
  for (; next_ < content.first + content.count; ++next_)
    wrap_line(next_, content.line(size_t(next_ - content.first)).text, columns);
}

LogView::Click LogView::draw_row(const LogContent& content, const Row& row, float margin, float width,
                                 const Colors& colors) {
  Click click;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const LogLine shown = content.line(size_t(row.line - content.first));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 end{at.x + margin + width, at.y + ImGui::GetTextLineHeightWithSpacing()};
  const int64_t low = std::min(anchor_, caret_), high = std::max(anchor_, caret_), number = int64_t(row.line);
  if (low >= 0 && number >= low && number <= high) list->AddRectFilled(at, end, colors.selection);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool hovered = ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(at, end);
  if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    caret_ = number;
    if (!ImGui::GetIO().KeyShift || anchor_ < 0) anchor_ = caret_;
  } else if (hovered && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    caret_ = number;
  }
  const char* const text = shown.text.data();
  if (row.begin == 0 && *shown.mark) list->AddText(at, shown.color, shown.mark);
  list->AddText({at.x + margin, at.y}, shown.color, text + row.begin, text + row.end);
  for (size_t i = 0; i < shown.links.size(); ++i) {
    const size_t from = std::max<size_t>(shown.links[i].first, row.begin),
                 to = std::min<size_t>(shown.links[i].second, row.end);
    if (from >= to) continue;
    const float left = at.x + margin + ImGui::CalcTextSize(text + row.begin, text + from).x;
    const float right = left + ImGui::CalcTextSize(text + from, text + to).x;
    const bool over = hovered && mouse.x >= left && mouse.x < right;
    const float line = at.y + ImGui::GetTextLineHeight() - 1;
    list->AddLine({left, line}, {right, line}, over ? colors.link : with_alpha(colors.link, 0.5f));
    if (!over) continue;
    list->AddText({left, at.y}, colors.link, text + from, text + to);
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < 16)
      click = {true, size_t(row.line - content.first), i};
  }
  ImGui::Dummy({margin + width, ImGui::GetTextLineHeight()});
  return click;
}

LogView::Click LogView::draw(const char* id, const LogContent& content, ImVec2 size, const Colors& colors) {
  Click click;
  ImGui::BeginChild(id, size, false, ImGuiWindowFlags_NoNav);
  ImGui::PushFont(fonts().mono);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, em(0.12f)});
  const float advance = ImGui::CalcTextSize("0").x, margin = std::round(advance * 1.7f);
  const float width = ImGui::GetContentRegionAvail().x - em(0.4f) - margin;
  wrap(content, std::max(8, int(width / advance)));
  const bool hovered = ImGui::IsWindowHovered();
  if (hovered && ImGui::GetIO().MouseWheel > 0) follow_ = false;
  ImGuiListClipper clipper;
  clipper.Begin(int(rows_.size()), ImGui::GetTextLineHeightWithSpacing());
  while (clipper.Step())
    for (int r = clipper.DisplayStart; r < clipper.DisplayEnd; ++r)
      if (const Click its = draw_row(content, rows_[size_t(r)], margin, width, colors); its.happened)
        click = its;
  clipper.End();
  const int64_t low = std::max(std::min(anchor_, caret_), int64_t(content.first));
  const int64_t high = std::min(std::max(anchor_, caret_), int64_t(content.first + content.count) - 1);
  if (hovered && anchor_ >= 0 && ImGui::GetIO().KeyCtrl && key_pressed(GLFW_KEY_C, false)) {
    std::string text;
    for (int64_t i = low; i <= high; ++i) {
      text += content.line(size_t(i - int64_t(content.first))).text;
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
  return click;
}

}  // namespace lunagrad
