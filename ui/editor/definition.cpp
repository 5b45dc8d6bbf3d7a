#include "ui/editor/definition.h"

#include <cctype>
#include <string_view>
#include <vector>

#include "ui/text/lua_highlight.h"

namespace lunagrad {
namespace {

struct Word {
  std::string_view text;
  TextPosition at;
  LuaPart part;
};

// The words of the text without spaces and comments; punctuation one character at a time.
std::vector<Word> words_of(const TextBuffer& buffer) {
  std::vector<Word> words;
  std::vector<LuaToken> tokens;
  LuaOpen open = 0;
  for (int i = 0; i < buffer.line_count(); ++i) {
    tokens.clear();
    open = lua_tokens(buffer.line(i), open, tokens);
    for (const LuaToken& token : tokens) {
      if (token.part == LuaPart::comment || token.part == LuaPart::space) continue;
      const std::string_view text =
          std::string_view(buffer.line(i)).substr(size_t(token.begin), size_t(token.end - token.begin));
      if (token.part != LuaPart::sign) {
        words.push_back({text, {i, token.begin}, token.part});
        continue;
      }
      for (size_t k = 0; k < text.size(); ++k)
        words.push_back({text.substr(k, 1), {i, token.begin + int(k)}, token.part});
    }
  }
  return words;
}

struct Found {
  std::vector<TextPosition> declared, assigned;
};

class Search {
 public:
  Search(const std::vector<Word>& words, std::string_view name, bool member)
      : words_(words), name_(name), member_(member) {}

  Found run() {
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i].text == "function" && is(i, LuaPart::keyword))
        function(i + 1);
      else if ((words_[i].text == "local" || words_[i].text == "for") && is(i, LuaPart::keyword))
        names(i + 1);
      else if (is(i, LuaPart::name) && words_[i].text == name_ && text(i + 1) == "=" && text(i + 2) != "=")
        found_.assigned.push_back(words_[i].at);
    }
    return std::move(found_);
  }

 private:
  bool is(size_t i, LuaPart part) const { return i < words_.size() && words_[i].part == part; }
  std::string_view text(size_t i) const { return i < words_.size() ? words_[i].text : std::string_view(); }

  // A function's own name also matches a member call; its parameters are plain names.
  void function(size_t i) {
    for (; is(i, LuaPart::name) || text(i) == "." || text(i) == ":"; ++i)
      if (text(i) == name_ && text(i + 1) == "(") found_.declared.push_back(words_[i].at);
    if (text(i) == "(") names(i + 1);
  }

  // "a, b <const>" up to the end of the list of names.
  void names(size_t i) {
    if (member_) return;
    while (is(i, LuaPart::name)) {
      if (text(i) == name_) found_.declared.push_back(words_[i].at);
      ++i;
      if (text(i) == "<") i += 3;
      if (text(i) != ",") return;
      ++i;
    }
  }

  const std::vector<Word>& words_;
  const std::string_view name_;
  const bool member_;
  Found found_;
};

}  // namespace

std::string name_at(const TextBuffer& buffer, TextPosition caret) {
  const std::string& line = buffer.line(caret.line);
  auto end = size_t(caret.column);
  while (end < line.size() && in_name(line[end])) ++end;
  size_t begin = end;
  while (begin > 0 &&
         (in_name(line[begin - 1]) || ((line[begin - 1] == '.' || line[begin - 1] == ':') && begin < end)))
    --begin;
  while (begin < end && !in_name(line[begin])) ++begin;
  if (begin == end || std::isdigit(static_cast<unsigned char>(line[begin]))) return {};
  return line.substr(begin, end - begin);
}

std::optional<TextPosition> definition_of(const TextBuffer& buffer, const std::string& name,
                                          TextPosition caret) {
  const size_t last = name.find_last_of(".:");
  const std::string own = last == std::string::npos ? name : name.substr(last + 1);
  const std::vector<Word> words = words_of(buffer);
  const Found found = Search(words, own, last != std::string::npos).run();
  std::optional<TextPosition> best;
  for (const TextPosition at : found.declared)
    if (at <= caret || !best) best = at;
  if (!best && !found.assigned.empty()) best = found.assigned.front();
  return best;
}

}  // namespace lunagrad
