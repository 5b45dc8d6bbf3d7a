#include "ui/text/commands.h"

#include <algorithm>
#include <cctype>

#include "ui/base/utf8.h"

namespace lunagrad {
namespace {

enum class CharKind { space, word, sign };

CharKind kind_of(char c) {
  if (c == ' ' || c == '\t') return CharKind::space;
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || c == '_' || byte >= 0x80 ? CharKind::word : CharKind::sign;
}

int indent_of(const std::string& line) { return int(std::min(line.find_first_not_of(" \t"), line.size())); }

bool blank(const std::string& line) { return size_t(indent_of(line)) == line.size(); }

// The lines that a line command applies to. The last line is excluded if the selection ends at its start.
std::pair<int, int> selected_lines(const TextBuffer& buffer) {
  const TextRange range = buffer.selection();
  const bool ends_before = range.end.line > range.begin.line && range.end.column == 0;
  return {range.begin.line, range.end.line - ends_before};
}

TextPosition word_left(const TextBuffer& buffer, TextPosition p) {
  if (p.column == 0) return p.line > 0 ? TextPosition{p.line - 1, int(buffer.line(p.line - 1).size())} : p;
  const std::string& line = buffer.line(p.line);
  auto at = size_t(p.column);
  while (at > 0 && kind_of(line[at - 1]) == CharKind::space) --at;
  if (at > 0)
    for (const CharKind kind = kind_of(line[at - 1]); at > 0 && kind_of(line[at - 1]) == kind;) --at;
  return {p.line, int(at)};
}

TextPosition word_right(const TextBuffer& buffer, TextPosition p) {
  const std::string& line = buffer.line(p.line);
  auto at = size_t(p.column);
  if (at == line.size()) return p.line + 1 < buffer.line_count() ? TextPosition{p.line + 1, 0} : p;
  for (const CharKind kind = kind_of(line[at]); at < line.size() && kind_of(line[at]) == kind;) ++at;
  while (at < line.size() && kind_of(line[at]) == CharKind::space) ++at;
  return {p.line, int(at)};
}

// Whether the text before the caret on its line leaves a block or bracket open.
bool opens_block(TextBuffer& buffer, LuaHighlight& highlight, TextPosition caret) {
  int depth = 0;
  const std::string& line = buffer.line(caret.line);
  for (const LuaToken& token : highlight.tokens(buffer, caret.line)) {
    if (token.end > caret.column) break;
    const std::string_view word =
        std::string_view(line).substr(size_t(token.begin), size_t(token.end - token.begin));
    if (token.part == LuaPart::keyword) {
      if (word == "then" || word == "do" || word == "repeat" || word == "function" || word == "else") ++depth;
      if (word == "end" || word == "until") depth = std::max(depth - 1, 0);
      if (word == "elseif") depth = std::max(depth - 1, 0);
    } else if (token.part == LuaPart::sign) {
      if (word == "(" || word == "{" || word == "[") ++depth;
      if (word == ")" || word == "}" || word == "]") depth = std::max(depth - 1, 0);
    }
  }
  return depth > 0;
}

void erase_start(TextBuffer& buffer, int line, int bytes) {
  if (bytes > 0) buffer.replace({{line, 0}, {line, bytes}}, {});
}

}  // namespace

int screen_column(std::string_view line, int column) {
  int screen = 0;
  for (size_t at = 0; at < size_t(column) && at < line.size(); at = utf8_next(line, at))
    screen = line[at] == '\t' ? (screen / kTabWidth + 1) * kTabWidth : screen + 1;
  return screen;
}

int column_at(std::string_view line, int wanted) {
  int screen = 0;
  for (size_t at = 0; at < line.size(); at = utf8_next(line, at)) {
    const int next = line[at] == '\t' ? (screen / kTabWidth + 1) * kTabWidth : screen + 1;
    if (next > wanted) return int(wanted - screen < next - wanted ? at : utf8_next(line, at));
    screen = next;
  }
  return int(line.size());
}

TextPosition moved_by(const TextBuffer& buffer, TextPosition p, Motion motion, int wanted, int lines) {
  const std::string& line = buffer.line(p.line);
  switch (motion) {
    case Motion::left:
      if (p.column > 0) return {p.line, int(utf8_previous(line, size_t(p.column)))};
      return p.line > 0 ? TextPosition{p.line - 1, int(buffer.line(p.line - 1).size())} : p;
    case Motion::right:
      if (size_t(p.column) < line.size()) return {p.line, int(utf8_next(line, size_t(p.column)))};
      return p.line + 1 < buffer.line_count() ? TextPosition{p.line + 1, 0} : p;
    case Motion::word_left:
      return word_left(buffer, p);
    case Motion::word_right:
      return word_right(buffer, p);
    case Motion::line_start: {  // first to the end of the indent, from there to the start of the line
      const int start = indent_of(line);
      return {p.line, p.column == start ? 0 : start};
    }
    case Motion::line_end:
      return {p.line, int(line.size())};
    case Motion::up:
    case Motion::down: {
      const int target = motion == Motion::up ? p.line - lines : p.line + lines;
      if (target < 0)
        return p.line == 0 ? TextPosition{} : TextPosition{0, column_at(buffer.line(0), wanted)};
      if (target >= buffer.line_count()) return buffer.end();
      return {target, column_at(buffer.line(target), wanted)};
    }
    case Motion::begin:
      return {};
    case Motion::end:
      break;
  }
  return buffer.end();
}

TextRange word_at(const TextBuffer& buffer, TextPosition p) {
  const std::string& line = buffer.line(p.line);
  if (line.empty()) return {p, p};
  auto at = std::min(size_t(p.column), line.size() - 1);
  if (kind_of(line[at]) != CharKind::word && p.column > 0 &&
      kind_of(line[size_t(p.column) - 1]) == CharKind::word)
    at = size_t(p.column) - 1;
  const CharKind kind = kind_of(line[at]);
  size_t begin = at, end = at + 1;
  while (begin > 0 && kind_of(line[begin - 1]) == kind) --begin;
  while (end < line.size() && kind_of(line[end]) == kind) ++end;
  return {{p.line, int(begin)}, {p.line, int(end)}};
}

std::string path_at(const TextBuffer& buffer, TextPosition p) {
  const std::string& line = buffer.line(p.line);
  const TextRange word = word_at(buffer, p);
  if (word.empty() || kind_of(line[size_t(word.begin.column)]) != CharKind::word) return {};
  auto begin = size_t(word.begin.column);
  while (begin > 1 && (line[begin - 1] == '.' || line[begin - 1] == ':') &&
         kind_of(line[begin - 2]) == CharKind::word) {
    --begin;
    while (begin > 0 && kind_of(line[begin - 1]) == CharKind::word) --begin;
  }
  return line.substr(begin, size_t(word.end.column) - begin);
}

void erase_by(TextBuffer& buffer, Motion motion) {
  if (buffer.has_selection()) return buffer.type({});
  const TextPosition caret = buffer.caret();
  TextPosition to = moved_by(buffer, caret, motion);
  // Backspace in an indent of spaces deletes a whole level.
  const std::string& line = buffer.line(caret.line);
  if (motion == Motion::left && caret.column > 1 && indent_of(line) >= caret.column &&
      line[size_t(caret.column) - 1] == ' ') {
    const auto unit = int(buffer.indent_unit().size());
    int column = caret.column - 1;
    while (column > 0 && column % unit && line[size_t(column) - 1] == ' ') --column;
    to.column = column;
  }
  buffer.erase({std::min(caret, to), std::max(caret, to)});
}

void new_line(TextBuffer& buffer, LuaHighlight& highlight) {
  const TextBuffer::Step step(buffer);
  buffer.type({});
  const TextPosition caret = buffer.caret();
  const std::string& line = buffer.line(caret.line);
  std::string start = line.substr(0, size_t(std::min(indent_of(line), caret.column)));
  const bool in_string = highlight.open_at(buffer, caret.line) != 0;
  if (!in_string && opens_block(buffer, highlight, caret)) start += buffer.indent_unit();
  // A closing bracket after the caret goes to its own line below.
  const bool closes = size_t(caret.column) < line.size() &&
                      std::string_view(")}]").find(line[size_t(caret.column)]) != std::string_view::npos;
  const std::string outer = line.substr(0, size_t(std::min(indent_of(line), caret.column)));
  buffer.type("\n" + start);
  if (closes && start.size() > outer.size()) {
    const TextPosition between = buffer.caret();
    buffer.type("\n" + outer);
    buffer.set_caret(between);
  }
}

void outdent_closing(TextBuffer& buffer, LuaHighlight& highlight) {
  const TextPosition caret = buffer.caret();
  const std::string& line = buffer.line(caret.line);
  if (size_t(caret.column) != line.size() || caret.line == 0) return;
  const int indent = indent_of(line);
  const std::string_view word = std::string_view(line).substr(size_t(indent));
  if (word != "end" && word != "else" && word != "elseif" && word != "until" && word != "}" && word != ")")
    return;
  if (highlight.open_at(buffer, caret.line) != 0) return;
  int above = caret.line - 1;
  while (above > 0 && blank(buffer.line(above))) --above;
  const std::string unit = buffer.indent_unit();
  const std::string& before = buffer.line(above);
  const bool opened = opens_block(buffer, highlight, {above, int(before.size())});
  const int expected = indent_of(before) + (opened ? int(unit.size()) : 0);
  if (indent < expected || indent < int(unit.size())) return;
  erase_start(buffer, caret.line, int(unit.size()));
}

void indent(TextBuffer& buffer) {
  const TextBuffer::Step step(buffer);
  const std::string unit = buffer.indent_unit();
  if (!buffer.has_selection()) {
    if (unit == "\t") return buffer.type(unit);
    const TextPosition caret = buffer.caret();
    const auto width = int(unit.size());
    return buffer.type(
        std::string(size_t(width - screen_column(buffer.line(caret.line), caret.column) % width), ' '));
  }
  const auto [first, last] = selected_lines(buffer);
  const TextPosition anchor = buffer.anchor(), caret = buffer.caret();
  for (int i = first; i <= last; ++i)
    if (!buffer.line(i).empty()) buffer.replace({{i, 0}, {i, 0}}, unit);
  const auto shifted = [&](TextPosition p) {
    return p.line >= first && p.line <= last && p.column > 0
               ? TextPosition{p.line, p.column + int(unit.size())}
               : p;
  };
  buffer.select(shifted(anchor), shifted(caret));
}

void unindent(TextBuffer& buffer) {
  const TextBuffer::Step step(buffer);
  const auto width = int(buffer.indent_unit().size());
  const auto [first, last] = selected_lines(buffer);
  for (int i = first; i <= last; ++i) {
    const std::string& line = buffer.line(i);
    if (line.starts_with('\t')) {
      erase_start(buffer, i, 1);
    } else {
      int spaces = 0;
      while (spaces < width && size_t(spaces) < line.size() && line[size_t(spaces)] == ' ') ++spaces;
      erase_start(buffer, i, spaces);
    }
  }
}

void toggle_comment(TextBuffer& buffer) {
  const TextBuffer::Step step(buffer);
  const auto [first, last] = selected_lines(buffer);
  int least = INT32_MAX;
  bool all = true, any = false;
  for (int i = first; i <= last; ++i) {
    const std::string& line = buffer.line(i);
    if (blank(line)) continue;
    const int indent = indent_of(line);
    any = true;
    least = std::min(least, indent);
    all &= line.compare(size_t(indent), 2, "--") == 0;
  }
  if (!any) return;
  for (int i = first; i <= last; ++i) {
    const std::string& line = buffer.line(i);
    if (blank(line)) continue;
    const int indent = indent_of(line);
    if (all) {
      const bool space = line.compare(size_t(indent), 3, "-- ") == 0;
      buffer.replace({{i, indent}, {i, indent + 2 + space}}, {});
    } else {
      buffer.replace({{i, least}, {i, least}}, "-- ");
    }
  }
}

void duplicate(TextBuffer& buffer) {
  const TextRange range = buffer.selection();
  const TextBuffer::Step step(buffer);
  if (range.empty()) {
    const TextPosition caret = buffer.caret();
    const TextPosition end{caret.line, int(buffer.line(caret.line).size())};
    buffer.replace({end, end}, "\n" + buffer.line(caret.line));
    buffer.set_caret({caret.line + 1, caret.column});
  } else {
    const TextPosition end = buffer.replace({range.end, range.end}, buffer.text(range));
    buffer.select(range.end, end);
  }
}

void move_lines(TextBuffer& buffer, int by) {
  const auto [first, last] = selected_lines(buffer);
  if (first + by < 0 || last + by >= buffer.line_count()) return;
  const TextPosition anchor = buffer.anchor(), caret = buffer.caret();
  const TextBuffer::Step step(buffer);
  const int from = by < 0 ? first - 1 : last + 1;
  const std::string passed = buffer.line(from);
  const std::string block = buffer.text({{first, 0}, {last, int(buffer.line(last).size())}});
  const TextRange both{{std::min(first, from), 0},
                       {std::max(last, from), int(buffer.line(std::max(last, from)).size())}};
  buffer.replace(both, by < 0 ? block + "\n" + passed : passed + "\n" + block);
  buffer.select({anchor.line + by, anchor.column}, {caret.line + by, caret.column});
}

void delete_lines(TextBuffer& buffer) {
  const auto [first, last] = selected_lines(buffer);
  TextRange range{{first, 0}, {last + 1, 0}};
  if (last + 1 == buffer.line_count()) {
    range.end = buffer.end();
    if (first > 0) range.begin = {first - 1, int(buffer.line(first - 1).size())};
  }
  buffer.erase(range);
}

}  // namespace lunagrad
