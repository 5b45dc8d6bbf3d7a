#pragma once
// Finds and replaces in a TextBuffer, line by line: plain text or a regular expression (ECMAScript). Searches
// a long text in pieces, so that no frame waits for it. One thread.
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
  static constexpr size_t kLongestLine = 20000;  // bytes; longer lines are not searched with an expression

  void look_for(SearchQuery);
  const SearchQuery& query() const { return query_; }
  const std::string& error() const { return error_; }  // the error in the expression, or ""
  bool active() const { return !query_.text.empty() && error_.empty(); }

  // Continues the search for at most `seconds`; restarts it when the text has changed.
  void update(const TextBuffer&, double seconds);
  bool complete() const { return complete_; }  // all lines were searched, or there are too many matches
  const std::vector<TextRange>& matches() const { return matches_; }  // in the order of the text

  // The match at or after a position, or before it, with wrap-around; -1 without matches.
  int next(TextPosition) const;
  int previous(TextPosition) const;
  // The replacement of a match: in an expression $1 … $9 are its groups and $& the whole match.
  std::string replacement(const TextBuffer&, TextRange match, const std::string& with) const;
  // Replaces all matches as one undo step. Completes the search first. Returns the number of replacements.
  int replace_all(TextBuffer&, const std::string& with);

 private:
  void look_at(const std::string& line, int number);

  SearchQuery query_;
  std::string wanted_;  // in lower case unless the search is case-sensitive
  std::optional<std::regex> expression_;
  std::string error_;
  uint64_t revision_ = 0;
  int next_line_ = 0;
  bool complete_ = false;
  std::vector<TextRange> matches_;
};

}  // namespace lunagrad
