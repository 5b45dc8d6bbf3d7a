#include "ui/text/lua_highlight.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace lunagrad {
namespace {

constexpr int kBracketLines = 5000;  // the partner of a bracket is searched within this many lines

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }

// The number of equals signs of the long bracket that opens at `at`, -1 for none.
int long_bracket(std::string_view line, size_t at) {
  if (at >= line.size() || line[at] != '[') return -1;
  size_t end = at + 1;
  while (end < line.size() && line[end] == '=') ++end;
  return end < line.size() && line[end] == '[' ? int(end - at - 1) : -1;
}

// The position after the long bracket of this level that closes at or after `at`; npos: not on this line.
size_t long_end(std::string_view line, size_t at, int level) {
  const std::string close = "]" + std::string(size_t(level), '=') + "]";
  const size_t found = line.find(close, at);
  return found == line.npos ? found : found + close.size();
}

// The position after the closing quote; without one the line's end, and `continued` says whether a backslash
// continues the string.
size_t quoted_end(std::string_view line, size_t at, char quote, bool& closed, bool& continued) {
  for (; at < line.size(); ++at) {
    if (line[at] == quote) {
      closed = true;
      return at + 1;
    }
    if (line[at] == '\\' && ++at >= line.size()) continued = true;
  }
  return line.size();
}

size_t number_end(std::string_view line, size_t at) {
  const bool hex = line[at] == '0' && at + 1 < line.size() && (line[at + 1] | 32) == 'x';
  for (++at; at < line.size(); ++at) {
    const char c = line[at];
    const char before = char(line[at - 1] | 32);
    const bool exponent = (c == '+' || c == '-') && before == (hex ? 'p' : 'e');
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && !exponent) break;
    if (c == '.' && at + 1 < line.size() && line[at + 1] == '.') break;  // a concatenation
  }
  return at;
}

}  // namespace

bool is_lua_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 22> words = {
      "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
      "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"};
  return std::binary_search(words.begin(), words.end(), word);
}

LuaOpen lua_tokens(std::string_view line, LuaOpen open, std::vector<LuaToken>& tokens) {
  size_t at = 0;
  const auto add = [&](size_t begin, size_t end, LuaPart part) {
    if (end > begin) tokens.push_back({int(begin), int(end), part});
    at = end;
  };
  // Continues a long bracket from `at`. Returns true when it stays open.
  const auto in_long = [&](size_t begin, size_t from, LuaOpen state) {
    const LuaPart part = state & 1 ? LuaPart::comment : LuaPart::string;
    const size_t end = long_end(line, from, int(state - 4) / 2);
    add(begin, std::min(end, line.size()), part);
    return end == line.npos;
  };
  const auto in_quotes = [&](size_t begin, size_t from, char quote) -> LuaOpen {
    bool closed = false, continued = false;
    const size_t end = quoted_end(line, from, quote, closed, continued);
    add(begin, end, closed || continued ? LuaPart::string : LuaPart::fault);
    return continued ? (quote == '\'' ? 1 : 2) : 0;
  };
  if (open >= 4) {
    if (in_long(0, 0, open)) return open;
  } else if (open > 0) {
    if (const LuaOpen still = in_quotes(0, 0, open == 1 ? '\'' : '"')) return still;
  }
  while (at < line.size()) {
    const char c = line[at];
    if (is_space(c)) {
      ++at;
    } else if (c == '-' && at + 1 < line.size() && line[at + 1] == '-') {
      const int level = long_bracket(line, at + 2);
      if (level < 0) {
        add(at, line.size(), LuaPart::comment);
      } else {
        const LuaOpen state = 5 + 2 * LuaOpen(level);
        if (in_long(at, at + 4 + size_t(level), state)) return state;
      }
    } else if (const int level = long_bracket(line, at); level >= 0) {
      const LuaOpen state = 4 + 2 * LuaOpen(level);
      if (in_long(at, at + 2 + size_t(level), state)) return state;
    } else if (c == '"' || c == '\'') {
      if (const LuaOpen state = in_quotes(at, at + 1, c)) return state;
    } else if (c == '.' && at + 1 < line.size() && line[at + 1] == '.') {
      add(at, line.substr(at, 3) == "..." ? at + 3 : at + 2, LuaPart::sign);
    } else if (is_digit(c) || (c == '.' && at + 1 < line.size() && is_digit(line[at + 1]))) {
      add(at, number_end(line, at), LuaPart::number);
    } else if (is_letter(c)) {
      size_t end = at + 1;
      while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]))) ++end;
      add(at, end, is_lua_keyword(line.substr(at, end - at)) ? LuaPart::keyword : LuaPart::name);
    } else {
      const bool known = std::string_view("+-*/%^#&~|<>=(){}[];:,.").find(c) != std::string_view::npos;
      add(at, at + 1, known ? LuaPart::sign : LuaPart::fault);
    }
  }
  return 0;
}

LuaOpen LuaHighlight::open_at(TextBuffer& buffer, int line) {
  const int changed = buffer.take_changed();
  if (changed < buffer.line_count()) open_.resize(std::min(open_.size(), size_t(changed) + 1));
  if (open_.size() > size_t(buffer.line_count())) open_.resize(size_t(buffer.line_count()));
  while (open_.size() <= size_t(line)) {
    tokens_.clear();
    const int known = int(open_.size()) - 1;
    const std::string& text = buffer.line(known);
    // Lua skips a first line that starts with #.
    open_.push_back(known == 0 && text.starts_with('#') ? 0 : lua_tokens(text, open_.back(), tokens_));
  }
  return open_[size_t(line)];
}

const std::vector<LuaToken>& LuaHighlight::tokens(TextBuffer& buffer, int line) {
  const LuaOpen open = open_at(buffer, line);
  tokens_.clear();
  const std::string& text = buffer.line(line);
  if (line == 0 && text.starts_with('#'))
    tokens_.push_back({0, int(text.size()), LuaPart::comment});
  else
    lua_tokens(text, open, tokens_);
  return tokens_;
}

LuaHighlight::Pair LuaHighlight::brackets(TextBuffer& buffer, TextPosition caret) {
  constexpr std::string_view kOpening = "([{", kClosing = ")]}";
  Pair pair;
  char own = 0;
  for (const LuaToken& token : tokens(buffer, caret.line)) {
    const char c = buffer.line(caret.line)[size_t(token.begin)];
    const bool bracket = token.part == LuaPart::sign &&
                         (kOpening.find(c) != kOpening.npos || kClosing.find(c) != kClosing.npos);
    if (!bracket || (token.begin != caret.column && token.end != caret.column)) continue;
    pair.found = true;
    pair.first = {{caret.line, token.begin}, {caret.line, token.end}};
    own = c;
    if (token.begin == caret.column) break;  // the bracket after the caret has priority over one before it
  }
  if (!pair.found) return pair;
  const bool forward = kOpening.find(own) != kOpening.npos;
  const char partner = forward ? kClosing[kOpening.find(own)] : kOpening[kClosing.find(own)];
  int depth = 0;
  const int step = forward ? 1 : -1;
  for (int line = caret.line;
       line >= 0 && line < buffer.line_count() && std::abs(line - caret.line) < kBracketLines; line += step) {
    const std::vector<LuaToken>& all = tokens(buffer, line);
    const std::string& text = buffer.line(line);
    for (size_t i = 0; i < all.size(); ++i) {
      const LuaToken& token = forward ? all[i] : all[all.size() - 1 - i];
      if (token.part != LuaPart::sign) continue;
      const TextPosition at{line, token.begin};
      if (forward ? at < pair.first.begin : at > pair.first.begin) continue;
      const char c = text[size_t(token.begin)];
      depth += c == own ? 1 : c == partner ? -1 : 0;
      if (c == partner && depth == 0) {
        pair.second = {at, {line, token.end}};
        return pair;
      }
    }
  }
  return pair;
}

}  // namespace lunagrad
