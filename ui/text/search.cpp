#include "ui/text/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "runtime/core/lower_case.h"

namespace lunagrad {
namespace {

// Uses libstdc++'s matcher without recursion and with polynomial time: (a+)+b cannot hang the window.
std::regex::flag_type flags(bool match_case) {
  auto flags = std::regex::ECMAScript;
#ifdef __GLIBCXX__
  flags |= std::regex_constants::__polynomial;
#endif
  return match_case ? flags : flags | std::regex::icase;
}

// libstdc++ reports any unexpected character as a parenthesis error.
std::string reason(const std::regex_error& error, const std::string& text) {
  const auto count = [&](char c) { return std::count(text.begin(), text.end(), c); };
  switch (error.code()) {
    case std::regex_constants::error_brack:
      return "a [ has no ]";
    case std::regex_constants::error_paren:
      return count('(') == count(')') ? "nothing stands before a *, + or ?"
                                      : "a ( has no ), or the other way around";
    case std::regex_constants::error_brace:
    case std::regex_constants::error_badbrace:
      return "a { } is not a count";
    case std::regex_constants::error_badrepeat:
      return "nothing stands before a *, + or ?";
    case std::regex_constants::error_escape:
      return "no such escape behind a \\";
    case std::regex_constants::error_range:
      return "a range in [ ] ends before it begins";
    case std::regex_constants::error_complexity:
    case std::regex_constants::error_backref:
      return "groups cannot be referred to with \\1";
    default:
      return error.what();
  }
}

}  // namespace

void TextSearch::look_for(SearchQuery query) {
  if (query == query_) return;
  query_ = std::move(query);
  error_.clear();
  expression_.reset();
  wanted_ = query_.match_case ? query_.text : lower_case(query_.text);
  if (query_.regex && !query_.text.empty()) {
    try {
      expression_.emplace(query_.text, flags(query_.match_case));
    } catch (const std::regex_error& error) {
      error_ = reason(error, query_.text);
    }
  }
  revision_ = 0;
  matches_.clear();
  next_line_ = 0;
  complete_ = false;
}

void TextSearch::look_at(const std::string& line, int number) {
  const auto add = [&](size_t begin, size_t length) {
    if (length > 0) matches_.push_back({{number, int(begin)}, {number, int(begin + length)}});
  };
  if (expression_) {
    if (line.size() > kLongestLine) return;
    for (std::sregex_iterator match(line.begin(), line.end(), *expression_), end; match != end; ++match)
      add(size_t(match->position()), size_t(match->length()));
    return;
  }
  const std::string& text = query_.match_case ? line : lower_case(line);
  for (size_t at = 0; (at = text.find(wanted_, at)) != text.npos; at += wanted_.size())
    add(at, wanted_.size());
}

void TextSearch::update(const TextBuffer& buffer, double seconds) {
  using Clock = std::chrono::steady_clock;
  if (!active()) {
    matches_.clear();
    return;
  }
  if (buffer.revision() != revision_) {
    revision_ = buffer.revision();
    matches_.clear();
    next_line_ = 0;
    complete_ = false;
  }
  const auto start = Clock::now();
  try {
    while (!complete_) {
      look_at(buffer.line(next_line_), next_line_);
      complete_ = ++next_line_ == buffer.line_count() || matches_.size() >= kMostMatches;
      if (next_line_ % 16 == 0 && std::chrono::duration<double>(Clock::now() - start).count() > seconds)
        break;
    }
  } catch (const std::regex_error& error) {
    error_ = reason(error, query_.text);
    matches_.clear();
  }
}

int TextSearch::next(TextPosition from) const {
  if (matches_.empty()) return -1;
  const auto found = std::lower_bound(matches_.begin(), matches_.end(), from,
                                      [](const TextRange& m, TextPosition p) { return m.begin < p; });
  return found == matches_.end() ? 0 : int(found - matches_.begin());
}

int TextSearch::previous(TextPosition from) const {
  if (matches_.empty()) return -1;
  const auto found = std::lower_bound(matches_.begin(), matches_.end(), from,
                                      [](const TextRange& m, TextPosition p) { return m.begin < p; });
  return int(found == matches_.begin() ? matches_.size() : size_t(found - matches_.begin())) - 1;
}

std::string TextSearch::replacement(const TextBuffer& buffer, TextRange match,
                                    const std::string& with) const {
  if (!expression_) return with;
  const std::string& line = buffer.line(match.begin.line);
  for (std::sregex_iterator found(line.begin(), line.end(), *expression_), end; found != end; ++found)
    if (found->position() == match.begin.column) return found->format(with);
  return with;
}

int TextSearch::replace_all(TextBuffer& buffer, const std::string& with) {
  update(buffer, HUGE_VAL);
  if (!active() || matches_.empty()) return 0;
  const TextBuffer::Step step(buffer);
  // Replaces from the end, so that the remaining matches keep their positions.
  for (auto match = matches_.rbegin(); match != matches_.rend(); ++match)
    buffer.replace(*match, replacement(buffer, *match, with));
  return int(matches_.size());
}

}  // namespace lunagrad
