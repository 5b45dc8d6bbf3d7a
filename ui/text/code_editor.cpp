#include "ui/text/code_editor.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/base/redraw.h"
#include "ui/base/utf8.h"
#include "ui/text/commands.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr size_t kColouredLine = 20000;  // bytes; longer lines are drawn in one colour

ImU32 color_of(LuaPart part) {
  const Theme& t = theme();
  switch (part) {
    case LuaPart::keyword:
      return t.accent;
    case LuaPart::string:
      return t.good;
    case LuaPart::number:
      return t.warning;
    case LuaPart::comment:
      return t.muted;
    case LuaPart::fault:
      return t.bad;
    default:
      return t.text;
  }
}

}  // namespace

void CodeEditor::cut(const std::string& line, Drawn& drawn) const {
  drawn.shown.clear();
  drawn.offset.resize(line.size() + 1);
  drawn.x.resize(line.size() + 1);
  const ImFont* font = fonts().mono;
  float x = 0;
  int column = 0;
  for (size_t at = 0; at < line.size();) {
    const size_t next = utf8_next(line, at);
    for (size_t i = at; i < next; ++i) {
      drawn.offset[i] = int(drawn.shown.size());
      drawn.x[i] = x;
    }
    const auto byte = static_cast<unsigned char>(line[at]);
    if (byte == '\t') {
      const int stop = (column / kTabWidth + 1) * kTabWidth;
      drawn.shown.append(size_t(stop - column), ' ');
      x += float(stop - column) * m_.advance;
      column = stop;
    } else {
      const bool shown = byte >= 0x20 && byte != 0x7f && utf8_sequence(std::string_view(line).substr(at)) > 0;
      const size_t begin = drawn.shown.size();
      drawn.shown += shown ? line.substr(at, next - at) : "\xef\xbf\xbd";
      const char* text = drawn.shown.data() + begin;
      x += byte < 0x80 && shown ? m_.advance
                                : font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text,
                                                      drawn.shown.data() + drawn.shown.size())
                                      .x;
      ++column;
    }
    at = next;
  }
  drawn.offset[line.size()] = int(drawn.shown.size());
  drawn.x[line.size()] = x;
}

void CodeEditor::measure(const TextBuffer& buffer, const Look& look, ImVec2 origin, float width) {
  m_.at = origin;
  m_.advance = ImGui::CalcTextSize("0").x;
  m_.line = std::round(ImGui::GetTextLineHeight() * 1.25f);
  const auto digits = float(std::max<size_t>(std::to_string(buffer.line_count()).size(), 2));
  m_.number = em(1.2f) + digits * m_.advance;
  m_.text = m_.number + em(1);
  std::vector<std::string> headings;
  for (const Column& column : look.columns) headings.push_back(column.heading);
  if (headings != headings_) {
    headings_ = headings;
    widths_.clear();
    for (const std::string& heading : headings_) widths_.push_back(ImGui::CalcTextSize(heading.c_str()).x);
  }
  // The columns are to the right of the text, which so stays where it is when they come, grow and go.
  m_.right = width - ImGui::GetStyle().ScrollbarSize;
  m_.columns = 0;
  for (const float column : widths_) {
    if (m_.right - column - em(0.8f) < m_.text + width * 0.4f) break;  // keeps space for the text
    m_.right -= column + em(0.8f);
    ++m_.columns;
  }
  if (measured_ != buffer.revision()) {
    measured_ = buffer.revision();
    size_t bytes = 0;
    for (int i = 0; i < buffer.line_count(); ++i) bytes = std::max(bytes, buffer.line(i).size());
    longest_ = float(bytes);
  }
}

void CodeEditor::draw_headings(const Look& look, Result& result) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos(), mouse = ImGui::GetIO().MousePos;
  float x = at.x + m_.right;
  for (size_t c = 0; c < m_.columns; ++c) {
    const float right = x + widths_[c] + em(0.8f);
    const char* text = look.columns[c].heading.c_str();
    list->AddText({right - em(0.5f) - ImGui::CalcTextSize(text).x, at.y}, theme().muted, text);
    const ScreenArea area{{x, at.y}, {right, at.y + m_.line}};
    if (area.contains(mouse) && ImGui::IsWindowHovered()) {
      result.column_hovered = int(c);
      result.hovered = area;
    }
    x = right;
  }
  ImGui::Dummy({1, m_.line});
}

// The lines that stand out, over their whole width or a part of it.
void CodeEditor::draw_stripes(const TextBuffer& buffer, const Look& look, float from, float to) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const auto stripe = [&](int line, ImU32 color) {
    const float y = m_.at.y + float(line) * m_.line;
    list->AddRectFilled({from, y}, {to, y + m_.line}, color);
  };
  if (!buffer.has_selection())
    stripe(buffer.caret().line, with_alpha(theme().faint, focused_ ? 0.16f : 0.09f));
  if (look.marked >= 0) stripe(look.marked, with_alpha(theme().accent, 0.16f));
  if (look.paused_line >= 0) stripe(look.paused_line, with_alpha(theme().warning, 0.22f));
}

void CodeEditor::draw_numbers(const TextBuffer& buffer, const Look& look, Result& result) {
  const Theme& t = theme();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 window = ImGui::GetWindowPos(), mouse = ImGui::GetIO().MousePos;
  const float height = ImGui::GetWindowHeight(), end = window.x + m_.text - em(0.4f);
  list->AddRectFilled(window, {end, window.y + height}, t.panel);
  list->AddLine({end, window.y}, {end, window.y + height}, t.border);
  const float base = (m_.line - ImGui::GetTextLineHeight()) / 2;
  for (int i = m_.first; i <= m_.last; ++i) {
    const float y = m_.at.y + float(i) * m_.line;
    const std::string number = std::to_string(i + 1);
    list->AddText({window.x + m_.number - float(number.size()) * m_.advance, y + base},
                  i == buffer.caret().line ? t.text : t.muted, number.c_str());
    if (i == look.marked) {  // an arrow, so that colour is not the only sign
      const float middle = y + m_.line / 2, size = em(0.32f);
      list->AddTriangleFilled({window.x + em(0.25f), middle - size}, {window.x + em(0.25f), middle + size},
                              {window.x + em(0.25f) + size * 1.4f, middle}, t.accent);
    }
    if (i == look.paused_line) {  // a bar, which does not cover the arrow
      list->AddRectFilled({window.x, y}, {window.x + em(0.2f), y + m_.line}, t.warning);
    }
    for (const Mark& mark : look.errors) {
      if (mark.line != i) continue;
      const ImVec2 centre{window.x + em(0.55f), y + m_.line / 2};
      list->AddCircleFilled(centre, em(0.42f), t.bad, 16);
      list->AddText({centre.x - ImGui::CalcTextSize("!").x / 2, y + base}, t.panel, "!");
    }
    const ScreenArea area{{window.x, y}, {end, y + m_.line}};
    if (ImGui::IsWindowHovered() && area.contains(mouse)) {
      result.gutter_hovered = i;
      result.hovered = area;
    }
  }
}

void CodeEditor::draw_cells(const TextBuffer& buffer, const Look& look, Result& result) {
  const Theme& t = theme();
  for (int i = m_.first; look.cell && i <= m_.last; ++i)
    for (size_t c = 0; c < look.columns.size(); ++c)
      widths_[c] = std::max(widths_[c], ImGui::CalcTextSize(look.cell(i, c).c_str()).x);
  if (m_.columns == 0 || !look.cell) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 window = ImGui::GetWindowPos(), mouse = ImGui::GetIO().MousePos;
  const float begin = window.x + m_.right, end = window.x + ImGui::GetWindowWidth();
  const float base = (m_.line - ImGui::GetTextLineHeight()) / 2;
  list->AddRectFilled({begin, window.y}, {end, window.y + ImGui::GetWindowHeight()}, t.panel);
  list->AddLine({begin, window.y}, {begin, window.y + ImGui::GetWindowHeight()}, t.border);
  draw_stripes(buffer, look, begin, end);
  for (int i = m_.first; i <= m_.last; ++i) {
    const float y = m_.at.y + float(i) * m_.line;
    float x = begin;
    for (size_t c = 0; c < m_.columns; ++c) {
      const std::string text = look.cell(i, c);
      const float right = x + widths_[c] + em(0.8f);
      if (c == 0 && look.heat && !text.empty()) {
        const float part = std::clamp(look.heat(i), 0.0f, 1.0f) * (widths_[c] + em(0.5f));
        list->AddRectFilled({right - em(0.3f) - part, y + 1}, {right - em(0.3f), y + m_.line - 1},
                            with_alpha(t.accent, 0.28f), 2);
      }
      list->AddText({right - em(0.5f) - ImGui::CalcTextSize(text.c_str()).x, y + base},
                    c == 0 ? t.text : t.muted, text.c_str());
      x = right;
    }
    const ScreenArea area{{begin, y}, {x, y + m_.line}};
    if (ImGui::IsWindowHovered() && area.contains(mouse)) {
      result.gutter_hovered = i;
      result.hovered = area;
    }
  }
}

void CodeEditor::underline(ImDrawList* list, const Drawn& drawn, const std::string& line, ImVec2 at) const {
  const size_t start = std::min(line.find_first_not_of(" \t"), line.size());
  const float left = ImGui::GetWindowPos().x, right = left + ImGui::GetWindowWidth();
  const float from = at.x + drawn.x[start], to = std::max(at.x + drawn.x[line.size()], from + m_.advance);
  const float low = at.y + m_.line - 2, step = em(0.2f);
  bool up = false;
  for (float x = std::max(from, left); x < std::min(to, right); x += step, up = !up)
    list->AddLine({x, up ? low - 2 : low}, {std::min(x + step, to), up ? low : low - 2}, theme().bad, 1.4f);
}

void CodeEditor::draw_line(TextBuffer& buffer, const Look& look, int i, ImDrawList* list) {
  const Theme& t = theme();
  const std::string& line = buffer.line(i);
  Drawn drawn;
  cut(line, drawn);
  const ImVec2 at{m_.at.x + m_.text, m_.at.y + float(i) * m_.line};
  const auto band = [&](TextRange range, ImU32 color, bool frame) {
    if (i < range.begin.line || i > range.end.line) return;
    const auto from = size_t(i == range.begin.line ? range.begin.column : 0);
    const bool whole = i < range.end.line;
    const auto to = whole ? line.size() : size_t(range.end.column);
    const ImVec2 min{at.x + drawn.x[from], at.y},
        max{at.x + drawn.x[to] + (whole ? m_.advance : 0), at.y + m_.line};
    list->AddRectFilled(min, max, color);
    if (frame) list->AddRect(min, max, t.accent);
  };
  if (look.search) {
    const auto& all = look.search->matches();
    auto match = std::lower_bound(all.begin(), all.end(), TextPosition{i, 0},
                                  [](const TextRange& m, TextPosition p) { return m.begin < p; });
    for (; match != all.end() && match->begin.line == i; ++match)
      band(*match, with_alpha(t.warning, 0.3f), match - all.begin() == look.current_match);
  }
  if (buffer.has_selection()) band(buffer.selection(), with_alpha(t.accent, focused_ ? 0.35f : 0.2f), false);
  for (const TextRange& bracket : {pair_.first, pair_.second})
    if (!bracket.empty()) band(bracket, with_alpha(pair_.second.empty() ? t.bad : t.accent, 0.25f), true);

  const float y = at.y + (m_.line - ImGui::GetTextLineHeight()) / 2;
  const auto part = [&](size_t begin, size_t end, ImU32 color) {
    const char* text = drawn.shown.data();
    list->AddText({at.x + drawn.x[begin], y}, color, text + drawn.offset[begin], text + drawn.offset[end]);
  };
  if (line.size() > kColouredLine) {
    const float left = ImGui::GetWindowPos().x, right = left + ImGui::GetWindowWidth();
    const auto first = std::lower_bound(drawn.x.begin(), drawn.x.end(), left - at.x);
    const auto last = std::lower_bound(first, drawn.x.end() - 1, right - at.x);
    part(utf8_start(line, size_t(first - drawn.x.begin())), utf8_start(line, size_t(last - drawn.x.begin())),
         t.text);
  } else {
    for (const LuaToken& token : highlight_.tokens(buffer, i))
      part(size_t(token.begin), size_t(token.end), color_of(token.part));
  }
  for (const Mark& mark : look.errors)
    if (mark.line == i) underline(list, drawn, line, at);
  if (i == buffer.caret().line) {
    const float x = at.x + drawn.x[size_t(buffer.caret().column)];
    list->AddRectFilled({x, at.y}, {x + std::max(1.5f, em(0.1f)), at.y + m_.line},
                        focused_ ? t.text : with_alpha(t.muted, 0.5f));
  }
  if (look.on_visible) {  // the first and the last line may be partly visible
    const ImVec2 window = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    const float right =
        std::clamp(at.x + drawn.x[line.size()], at.x + 1, std::max(at.x + 1, window.x + m_.right));
    const float scrollbar = ImGui::GetScrollMaxX() > 0 ? ImGui::GetStyle().ScrollbarSize : 0;
    const float top = std::max(at.y, window.y);
    const float bottom = std::min(at.y + m_.line, window.y + size.y - scrollbar);
    if (top < bottom) look.on_visible(i, {at.x, top}, {right, bottom});
  }
}

void CodeEditor::draw_text(TextBuffer& buffer, const Look& look) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 window = ImGui::GetWindowPos();
  const float right = window.x + (m_.columns > 0 ? m_.right : ImGui::GetWindowWidth());
  list->PushClipRect({window.x + m_.text - em(0.2f), window.y}, {right, window.y + ImGui::GetWindowHeight()},
                     true);
  draw_stripes(buffer, look, window.x + m_.text - em(0.4f), right);
  pair_ = focused_ ? highlight_.brackets(buffer, buffer.caret()) : LuaHighlight::Pair();
  for (int i = m_.first; i <= m_.last; ++i) draw_line(buffer, look, i, list);
  list->PopClipRect();
}

TextPosition CodeEditor::position_at(const TextBuffer& buffer, ImVec2 mouse) const {
  const int line = int(std::floor((mouse.y - m_.at.y) / m_.line));
  if (line < 0) return {};
  if (line >= buffer.line_count()) return buffer.end();
  Drawn drawn;
  const std::string& text = buffer.line(line);
  cut(text, drawn);
  const float x = mouse.x - m_.at.x - m_.text;
  size_t at = 0;
  while (at < text.size()) {
    const size_t next = utf8_next(text, at);
    if (x < (drawn.x[at] + drawn.x[next]) / 2) break;
    at = next;
  }
  return {line, int(at)};
}

bool CodeEditor::beside_text(float x) const {
  const float from_left = x - ImGui::GetWindowPos().x;
  return from_left < m_.text - em(0.4f) || (m_.columns > 0 && from_left >= m_.right);
}

void CodeEditor::move(TextBuffer& buffer, TextPosition to, bool select) {
  buffer.set_caret(to, select);
  follow_ = true;
}

void CodeEditor::handle_mouse(TextBuffer& buffer, Result& result, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool in_gutter = beside_text(io.MousePos.x);
  if (hovered) ImGui::SetMouseCursor(in_gutter ? ImGuiMouseCursor_Arrow : ImGuiMouseCursor_TextInput);
  const TextPosition under = position_at(buffer, io.MousePos);
  if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    const int clicks = ImGui::GetMouseClickedCount(ImGuiMouseButton_Left);
    if (clicks == 2 && !in_gutter)
      buffer.select(word_at(buffer, under));
    else if (clicks >= 3 && !in_gutter)
      buffer.select({{under.line, 0}, {under.line + 1, 0}});
    else
      buffer.set_caret(in_gutter ? TextPosition{under.line, 0} : under, io.KeyShift);
    wanted_column_ = -1;
    result.moved = true;
  } else if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3) &&
             ImGui::GetMouseClickedCount(ImGuiMouseButton_Left) < 2) {
    if (under != buffer.caret()) move(buffer, under, true);
  }
  if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Right)) {
    const TextRange selected = buffer.selection();
    if (under < selected.begin || under > selected.end) buffer.set_caret(under);
    result.moved = true;
  }
  // Explains a name when the mouse has rested on it for a moment.
  if (io.MousePos.x != rest_.x || io.MousePos.y != rest_.y) {
    rest_ = io.MousePos;
    rest_since_ = ImGui::GetTime();
  }
  if (!hovered || in_gutter || active) return;
  constexpr double kRest = 0.4;
  const double rested = ImGui::GetTime() - rest_since_;
  if (rested < kRest) return draw_again_in(kRest - rested);
  Drawn drawn;
  cut(buffer.line(under.line), drawn);
  const float x = io.MousePos.x - m_.at.x - m_.text;
  if (x < 0 || x > drawn.x.back()) return;
  result.path_hovered = path_at(buffer, under);
  const TextRange word = word_at(buffer, under);
  const float left = m_.at.x + m_.text, y = m_.at.y + float(under.line) * m_.line;
  result.hovered = {{left + drawn.x[size_t(word.begin.column)], y},
                    {left + drawn.x[size_t(word.end.column)], y + m_.line}};
}

void CodeEditor::scroll_to_what_matters(const TextBuffer& buffer) {
  const float height = ImGui::GetWindowHeight(), width = m_.right - m_.text;
  const float scrollbar = ImGui::GetStyle().ScrollbarSize;
  if (reveal_ >= 0) {
    const float y = float(reveal_) * m_.line - ImGui::GetScrollY();
    if (y < m_.line || y > height - 3 * m_.line)
      ImGui::SetScrollY(std::max(0.0f, float(reveal_) * m_.line - height / 2 + m_.line));
    reveal_ = -1;
  }
  if (!follow_) return;
  follow_ = false;
  const float y = float(buffer.caret().line) * m_.line, visible = height - scrollbar - m_.line;
  if (y < ImGui::GetScrollY())
    ImGui::SetScrollY(y);
  else if (y > ImGui::GetScrollY() + visible - m_.line * 0.5f)
    ImGui::SetScrollY(y - visible + m_.line * 0.5f);
  Drawn drawn;
  cut(buffer.line(buffer.caret().line), drawn);
  const float x = drawn.x[size_t(buffer.caret().column)], margin = 4 * m_.advance;
  if (x < ImGui::GetScrollX() + margin)
    ImGui::SetScrollX(std::max(0.0f, x - margin));
  else if (x > ImGui::GetScrollX() + width - margin)
    ImGui::SetScrollX(x - width + margin);
}

CodeEditor::Result CodeEditor::draw(const char* id, TextBuffer& buffer, ImVec2 size, const Look& look) {
  Result result;
  if (size.x < 8 || size.y < 8) return result;
  ImGui::PushID(id);
  ImGui::PushFont(fonts().mono);
  measure(buffer, look, {0, 0}, size.x);
  headed_ |= !look.columns.empty();
  if (headed_ && size.y > 4 * m_.line) {
    draw_headings(look, result);
    size.y -= m_.line + ImGui::GetStyle().ItemSpacing.y;
  }
  // On Escape Dear ImGui's keyboard navigation gives the focus to the window around this one. The keys that
  // follow, Ctrl+S among them, belong to the text.
  const bool escaped = focused_ && key_pressed(GLFW_KEY_ESCAPE);
  if (std::exchange(take_focus_, false) || escaped) ImGui::SetNextWindowFocus();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::BeginChild(
      "text", size, false,
      ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoNavInputs | ImGuiWindowFlags_NoMove);
  ImGui::PopStyleVar();
  focused_ = ImGui::IsWindowFocused();
  measure(buffer, look, ImGui::GetCursorScreenPos(), size.x);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImVec2 all{std::max(room.x, m_.text + (longest_ + 4) * m_.advance + size.x - m_.right),
                   std::max(room.y, float(buffer.line_count()) * m_.line)};
  ImGui::InvisibleButton("lines", all);
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  handle_mouse(buffer, result, hovered, active);
  if (focused_) handle_keys(buffer, look, result);
  draw_menu(buffer, look, result);
  const float top = ImGui::GetScrollY();
  m_.first = std::clamp(int(top / m_.line), 0, buffer.line_count() - 1);
  m_.last = std::min(buffer.line_count() - 1, int((top + ImGui::GetWindowHeight()) / m_.line));
  draw_text(buffer, look);
  draw_numbers(buffer, look, result);
  draw_cells(buffer, look, result);
  if (result.edited) measure(buffer, look, m_.at, size.x);
  const TextPosition caret = buffer.caret();
  Drawn drawn;
  cut(buffer.line(caret.line), drawn);
  result.caret_below = {m_.at.x + m_.text + drawn.x[size_t(caret.column)],
                        m_.at.y + float(caret.line + 1) * m_.line};
  result.line_height = m_.line;
  scroll_to_what_matters(buffer);
  ImGui::EndChild();
  ImGui::PopFont();
  ImGui::PopID();
  return result;
}

}  // namespace lunagrad
