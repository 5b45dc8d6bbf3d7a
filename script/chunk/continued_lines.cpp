// Splits a script into words and signs, as far as is needed to see what a line ends with.
#include <algorithm>
#include <cctype>

#include "script/chunk/mistakes.h"

namespace lunagrad {
namespace {

constexpr std::string_view kKeywords[] = {
    "and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
    "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"};

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Lines {
 public:
  explicit Lines(std::string_view source) : source_(source) {}

  std::vector<int> find() {
    while (at_ < source_.size()) step();
    return std::move(found_);
  }

 private:
  // The kind of the last word or sign, as far as it matters for a parenthesis after it.
  enum class Before {
    other,
    value,     // the end of a callable expression: a name, f(x), t[i], f{}, f""
    header,    // `function name`, whose parenthesis begins the parameters
    declared,  // `local name`, `goto name`
  };

  char next(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void advance(size_t count) {
    for (; count > 0 && at_ < source_.size(); --count, ++at_)
      if (source_[at_] == '\n') ++line_;
  }

  // The number of characters of "[[" or "[==[" here; 0 when there is none.
  size_t long_bracket() const {
    if (next() != '[') return 0;
    size_t signs = 1;
    while (next(signs) == '=') ++signs;
    return next(signs) == '[' ? signs + 1 : 0;
  }

  void skip_long(size_t opening) {
    const std::string closing = "]" + std::string(opening - 2, '=') + "]";
    const size_t end = source_.find(closing, at_ + opening);
    advance(end == source_.npos ? source_.size() - at_ : end + closing.size() - at_);
  }

  void step() {
    const char c = next();
    if (std::isspace(static_cast<unsigned char>(c))) return advance(1);
    if (c == '-' && next(1) == '-') return skip_comment();
    const int line = line_;
    const bool first = line != last_line_;
    if (is_word_char(c)) {
      read_word();
    } else if (c == '"' || c == '\'') {
      skip_text(c);
      before_ = before_ == Before::value ? Before::value : Before::other;
    } else if (const size_t opening = long_bracket()) {
      skip_long(opening);
      before_ = before_ == Before::value ? Before::value : Before::other;
    } else {
      read_sign(c, first, line);
    }
    last_line_ = line_;
  }

  void skip_comment() {
    advance(2);
    if (const size_t opening = long_bracket()) return skip_long(opening);
    const size_t end = std::min(source_.find('\n', at_), source_.size());
    advance(end - at_);
  }

  void skip_text(char quote) {
    advance(1);
    while (at_ < source_.size() && next() != quote && next() != '\n') advance(next() == '\\' ? 2 : 1);
    advance(1);
  }

  void read_word() {
    const bool number = std::isdigit(static_cast<unsigned char>(next()));
    size_t length = 0;
    // A number goes on after the sign of its exponent: 1e-3, 0x1p+4.
    while (is_word_char(next(length)) || (number && next(length) == '.') ||
           (number && length > 0 && (next(length) == '-' || next(length) == '+') &&
            std::string_view("eEpP").find(next(length - 1)) != std::string_view::npos))
      ++length;
    const std::string_view word = source_.substr(at_, length);
    advance(length);
    if (number) {
      before_ = Before::other;
    } else if (word == "function") {
      before_ = Before::header;
    } else if (word == "local" || word == "goto") {
      before_ = Before::declared;
    } else if (std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords)) {
      before_ = Before::other;
    } else if (before_ != Before::header && before_ != Before::declared) {
      before_ = Before::value;
    }
  }

  void read_sign(char c, bool begins_line, int line) {
    advance(1);
    switch (c) {
      case '(':
        if (begins_line && before_ == Before::value) found_.push_back(line);
        open_.push_back(before_ != Before::header);
        before_ = Before::other;
        break;
      case '{':
        open_.push_back(before_ == Before::value);
        before_ = Before::other;
        break;
      case '[':
        open_.push_back(true);
        before_ = Before::other;
        break;
      case ')':
      case '}':
      case ']':
        before_ = !open_.empty() && open_.back() ? Before::value : Before::other;
        if (!open_.empty()) open_.pop_back();
        break;
      case '.':
      case ':':  // the name goes on: function Net:forward
        if (before_ == Before::header && next() != c) break;
        before_ = Before::other;
        break;
      case ',':
      case '<':
      case '>':  // local a, b <const>
        if (before_ == Before::declared) break;
        before_ = Before::other;
        break;
      default:
        before_ = Before::other;
        break;
    }
  }

  const std::string_view source_;
  size_t at_ = 0;
  int line_ = 1, last_line_ = 0;
  Before before_ = Before::other;
  std::vector<bool> open_;  // open brackets: whether the bracketed expression can be called
  std::vector<int> found_;
};

}  // namespace

std::vector<int> continued_lines(std::string_view source) { return Lines(source).find(); }

}  // namespace lunagrad
