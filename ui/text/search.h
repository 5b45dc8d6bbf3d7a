#pragma once
// Finds and replaces in a TextBuffer, line by line: plain text or a regular expression (ECMAScript's). Looks
// through a long text in pieces, so that a frame never waits for it. One thread.
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "ui/text/buffer.h"

namespace lunagrad {

struct SearchQuery {
  std::string text;
  bool match_case = false, regex = false;
  bool operator==(const SearchQuery&) const = default;
};

class TextSearch {
 public:
  static constexpr size_t kMostMatches = 100000;
  static constexpr size_t kLongestLine = 20000;  // bytes; in longer ones an expression is not looked for

  void look_for(SearchQuery);
  const SearchQuery& query() const { return query_; }
  const std::string& error() const { return error_; }  // what is wrong with the expression; "" for nothing
  bool active() const { return !query_.text.empty() && error_.empty(); }

  // Goes on looking, at most for so many seconds; from the start when the text has changed.
  void update(const TextBuffer&, double seconds);
  bool complete() const { return complete_; }  // all lines were looked at, or there are too many matches
  const std::vector<TextRange>& matches() const { return matches_; }  // in order

  // The match that begins at or behind a position, or before it, around the end of the text; -1 without any.
  int next(TextPosition) const;
  int previous(TextPosition) const;
  // What replaces a match: for an expression $1 … $9 are its groups and $& all of it.
  std::string replacement(const TextBuffer&, TextRange match, const std::string& with) const;
  // As one step of undo. Returns how many; looks at what was not looked at yet.
  int replace_all(TextBuffer&, const std::string& with);

 private:
  void look_at(const std::string& line, int number);

  SearchQuery query_;
  std::string wanted_;  // in lower case unless the case matters
  std::optional<std::regex> expression_;
  std::string error_;
  uint64_t revision_ = 0;
  int next_line_ = 0;
  bool complete_ = false;
  std::vector<TextRange> matches_;
};

}  // namespace lunagrad
