#include "ui/text/buffer.h"

#include <algorithm>

#include "ui/base/utf8.h"

namespace lunagrad {
namespace {

constexpr size_t kMostUndo = size_t(64) << 20;  // bytes; the oldest steps are dropped first

// The end of `text` when it starts at `begin`.
TextPosition end_of(TextPosition begin, std::string_view text) {
  const auto newlines = int(std::count(text.begin(), text.end(), '\n'));
  if (newlines == 0) return {begin.line, begin.column + int(text.size())};
  return {begin.line + newlines, int(text.size() - text.rfind('\n') - 1)};
}

// The new position of `p` when the range `before` is replaced by text that ends at `after`.
TextPosition moved(TextPosition p, TextRange before, TextPosition after) {
  if (p < before.end) return std::min(p, before.begin);
  if (p.line > before.end.line) return {p.line + after.line - before.end.line, p.column};
  return {after.line, after.column + p.column - before.end.column};
}

bool all_lines_end_in_crlf(std::string_view content) {
  bool any = false;
  for (size_t at = content.find('\n'); at != content.npos; at = content.find('\n', at + 1)) {
    if (at == 0 || content[at - 1] != '\r') return false;
    any = true;
  }
  return any;
}

std::string without_carriage_returns(std::string_view content) {
  std::string plain;
  plain.reserve(content.size());
  for (size_t i = 0; i < content.size(); ++i)
    if (content[i] != '\r' || i + 1 == content.size() || content[i + 1] != '\n') plain += content[i];
  return plain;
}

// Finds one level of indentation: a tab, or the smallest indent in spaces; "" if no line is indented.
std::string find_unit(const std::vector<std::string>& lines) {
  constexpr size_t kLooked = 1000, kMost = 8;
  size_t before = 0, least = kMost + 1;
  for (size_t i = 0; i < std::min(lines.size(), kLooked); ++i) {
    const size_t indent = lines[i].find_first_not_of(" \t");
    if (indent == std::string::npos) continue;
    if (lines[i][0] == '\t') return "\t";
    if (indent > before + 1) least = std::min(least, indent - before);
    before = indent;
  }
  return least > kMost ? std::string() : std::string(least, ' ');
}

}  // namespace

std::string TextBuffer::indent_unit() const {
  const std::string unit = unit_.empty() ? find_unit(lines_) : unit_;
  return unit.empty() ? "  " : unit;
}

void TextBuffer::load(std::string_view content) {
  crlf_ = all_lines_end_in_crlf(content);
  lines_.assign(1, "");
  undo_.clear();
  redo_.clear();
  undo_bytes_ = 0;
  joins_ = false;
  caret_ = anchor_ = {};
  put({}, crlf_ ? without_carriage_returns(content) : std::string(content));
  state_ = ++last_state_;
  changed_ = 0;
  unit_ = find_unit(lines_);
}

void TextBuffer::reload(std::string_view content) {
  const TextPosition caret = caret_;
  crlf_ = all_lines_end_in_crlf(content);
  replace({{}, end()}, crlf_ ? without_carriage_returns(content) : std::string(content));
  set_caret(caret);
}

std::string TextBuffer::content() const {
  std::string content;
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (i > 0) content += crlf_ ? "\r\n" : "\n";
    content += lines_[i];
  }
  return content;
}

TextPosition TextBuffer::clamp(TextPosition p) const {
  if (p.line < 0) return {};
  if (p.line >= line_count()) return end();
  const std::string& text = line(p.line);
  p.column = int(utf8_start(text, size_t(std::clamp(p.column, 0, int(text.size())))));
  return p;
}

std::string TextBuffer::text(TextRange range) const {
  if (range.begin.line == range.end.line)
    return line(range.begin.line)
        .substr(size_t(range.begin.column), size_t(range.end.column - range.begin.column));
  std::string text = line(range.begin.line).substr(size_t(range.begin.column));
  for (int i = range.begin.line + 1; i < range.end.line; ++i) text += '\n' + line(i);
  return text + '\n' + line(range.end.line).substr(0, size_t(range.end.column));
}

int TextBuffer::take_changed() {
  const int changed = std::min(changed_, line_count());
  changed_ = INT32_MAX;
  return changed;
}

TextRange TextBuffer::selection() const { return {std::min(caret_, anchor_), std::max(caret_, anchor_)}; }

void TextBuffer::set_caret(TextPosition p, bool select) {
  caret_ = clamp(p);
  if (!select) anchor_ = caret_;
  joins_ = false;
}

void TextBuffer::select(TextPosition anchor, TextPosition caret) {
  caret_ = clamp(caret);
  anchor_ = clamp(anchor);
  joins_ = false;
}

// Changes only the lines: no caret, no undo.
TextPosition TextBuffer::put(TextRange range, std::string_view text) {
  const auto first = size_t(range.begin.line), last = size_t(range.end.line);
  std::string tail = lines_[last].substr(size_t(range.end.column));
  lines_[first].resize(size_t(range.begin.column));
  std::vector<std::string> added;
  size_t begin = 0;
  for (size_t newline; (newline = text.find('\n', begin)) != text.npos; begin = newline + 1) {
    const std::string_view part = text.substr(begin, newline - begin);
    if (begin == 0)
      lines_[first] += part;
    else
      added.emplace_back(part);
  }
  const std::string_view rest = text.substr(begin);
  if (begin > 0) added.emplace_back(rest);
  std::string& end = begin > 0 ? added.back() : lines_[first] += rest;
  const TextPosition behind{int(first + added.size()), int(end.size())};
  end += tail;
  // Overwrites existing lines first, to move fewer of the others.
  const size_t removed = last - first, kept = std::min(removed, added.size());
  const auto at = lines_.begin() + std::ptrdiff_t(first) + 1;
  std::move(added.begin(), added.begin() + std::ptrdiff_t(kept), at);
  if (removed > kept)
    lines_.erase(at + std::ptrdiff_t(kept), at + std::ptrdiff_t(removed));
  else
    lines_.insert(at + std::ptrdiff_t(kept), std::make_move_iterator(added.begin() + std::ptrdiff_t(kept)),
                  std::make_move_iterator(added.end()));
  changed_ = std::min(changed_, range.begin.line);
  ++revision_;
  return behind;
}

void TextBuffer::begin_step(Kind kind) {
  if (open_steps_++ > 0) return;
  joins_ = false;
  undo_.push_back({{}, caret_, anchor_, caret_, anchor_, state_, state_, 0, kind});
}

void TextBuffer::end_step() {
  if (--open_steps_ > 0) return;
  Done& step = undo_.back();
  if (step.edits.empty()) {
    undo_.pop_back();
    return;
  }
  redo_.clear();
  step.caret_after = caret_;
  step.anchor_after = anchor_;
  state_ = step.state_after = ++last_state_;
  for (const Edit& edit : step.edits) step.bytes += edit.removed.size() + edit.inserted.size() + sizeof edit;
  undo_bytes_ += step.bytes;
  for (; undo_bytes_ > kMostUndo && undo_.size() > 1; undo_.pop_front()) undo_bytes_ -= undo_.front().bytes;
}

TextPosition TextBuffer::replace(TextRange range, std::string_view text) {
  range = {clamp(range.begin), clamp(range.end)};
  const Step step(*this);
  undo_.back().edits.push_back({range.begin, this->text(range), std::string(text)});
  const TextPosition end = put(range, text);
  caret_ = moved(caret_, range, end);
  anchor_ = moved(anchor_, range, end);
  return end;
}

// A letter continues the word that is being typed; a deletion next to the last deletion continues it.
bool TextBuffer::continues(Kind kind, TextRange range, std::string_view text) const {
  if (!joins_ || open_steps_ > 0 || undo_.empty() || undo_.back().kind != kind) return false;
  const Done& last = undo_.back();
  const Edit& edit = last.edits.back();
  if (kind == Kind::erasing)
    return range.end == edit.begin && range.begin.line == range.end.line &&
           edit.removed.find('\n') == edit.removed.npos;
  const bool after_space = edit.inserted.ends_with(' ') && text != " ";
  return range.empty() && range.begin == end_of(edit.begin, edit.inserted) && !after_space &&
         text.find('\n') == text.npos && edit.inserted.find('\n') == edit.inserted.npos;
}

void TextBuffer::type(std::string_view written) {
  const TextRange range = selection();
  const std::string text = without_carriage_returns(written);
  if (text.empty() && range.empty()) return;
  if (continues(Kind::typing, range, text)) {
    Done& last = undo_.back();
    last.edits.back().inserted += text;
    last.bytes += text.size();
    undo_bytes_ += text.size();
    last.caret_after = last.anchor_after = caret_ = anchor_ = put(range, text);
    state_ = last.state_after = ++last_state_;
    return;
  }
  begin_step(range.empty() ? Kind::typing : Kind::other);
  caret_ = anchor_ = replace(range, text);
  end_step();
  joins_ = open_steps_ == 0;
}

void TextBuffer::erase(TextRange range) {
  range = {clamp(range.begin), clamp(range.end)};
  if (range.empty()) return;
  if (continues(Kind::erasing, range, {})) {
    Done& last = undo_.back();
    Edit& edit = last.edits.back();
    const std::string removed = text(range);
    edit.removed = removed + edit.removed;
    edit.begin = range.begin;
    last.bytes += removed.size();
    undo_bytes_ += removed.size();
    put(range, {});
    last.caret_after = last.anchor_after = caret_ = anchor_ = range.begin;
    state_ = last.state_after = ++last_state_;
    return;
  }
  begin_step(Kind::erasing);
  caret_ = anchor_ = replace(range, {});
  end_step();
  joins_ = open_steps_ == 0;
}

bool TextBuffer::undo() {
  if (undo_.empty() || open_steps_ > 0) return false;
  Done step = std::move(undo_.back());
  undo_.pop_back();
  undo_bytes_ -= step.bytes;
  for (auto edit = step.edits.rbegin(); edit != step.edits.rend(); ++edit)
    put({edit->begin, end_of(edit->begin, edit->inserted)}, edit->removed);
  caret_ = step.caret_before;
  anchor_ = step.anchor_before;
  state_ = step.state_before;
  joins_ = false;
  redo_.push_back(std::move(step));
  return true;
}

bool TextBuffer::redo() {
  if (redo_.empty() || open_steps_ > 0) return false;
  Done step = std::move(redo_.back());
  redo_.pop_back();
  for (const Edit& edit : step.edits) put({edit.begin, end_of(edit.begin, edit.removed)}, edit.inserted);
  caret_ = step.caret_after;
  anchor_ = step.anchor_after;
  state_ = step.state_after;
  joins_ = false;
  undo_bytes_ += step.bytes;
  undo_.push_back(std::move(step));
  return true;
}

}  // namespace lunagrad
