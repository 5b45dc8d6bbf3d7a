#include "tests/support/page.h"

#include <cmath>
#include <cstdlib>
#include <regex>
#include <sstream>

namespace lunagrad::test {
namespace {

const std::string kDots = "…";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Dots at the end of a word stand for its rest.
bool same_word(const std::string& shown, const std::string& printed) {
  if (shown == printed) return true;
  if (shown.size() > kDots.size() && shown.ends_with(kDots))
    return printed.starts_with(shown.substr(0, shown.size() - kDots.size()));
  if (shown.find('.') == shown.npos) return false;
  char *end = nullptr, *printed_end = nullptr;
  const double a = std::strtod(shown.c_str(), &end), b = std::strtod(printed.c_str(), &printed_end);
  return end != shown.c_str() && std::string(end) == printed_end && std::abs(a - b) <= 0.03 * std::abs(a);
}

using Word = std::vector<std::string>::const_iterator;
bool same_words(Word shown, Word shown_end, Word printed, Word printed_end) {
  if (shown == shown_end) return printed == printed_end;
  if (*shown == kDots) {
    for (Word rest = printed;; ++rest) {
      if (same_words(shown + 1, shown_end, rest, printed_end)) return true;
      if (rest == printed_end) return false;
    }
  }
  return printed != printed_end && same_word(*shown, *printed) &&
         same_words(shown + 1, shown_end, printed + 1, printed_end);
}

std::string name_of_script(const std::string& first_line) {
  static const std::regex name("-- ([\\w/.-]+\\.lua)");
  std::smatch found;
  return std::regex_match(first_line, found, name) ? found[1].str() : "";
}

}  // namespace

Page read_page(const std::string& text) {
  Page page;
  std::istringstream in(text);
  std::string fence;
  int number = 0;
  bool begins = false;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("```")) {
      fence = fence.empty() ? line : "";
      begins = true;
      if (!fence.empty()) page.languages.push_back(fence.substr(3));
      if (fence == "```lua") page.steps.push_back({PageStep::Kind::script, "", {}, number});
      continue;
    }
    if (fence.empty()) {
      (line.starts_with("    ") ? page.other : page.prose).push_back(line);
    } else if (fence == "```console" && line.starts_with("$ ")) {
      page.steps.push_back({PageStep::Kind::command, line.substr(2), {}, number});
    } else if (fence == "```diff" && line.starts_with("+++ ")) {
      page.steps.push_back({PageStep::Kind::change, line.substr(4), {}, number});
    } else if (fence == "```console" || fence == "```diff" || fence == "```lua") {
      if (begins && fence == "```lua") page.steps.back().text = name_of_script(line);
      if (!page.steps.empty()) page.steps.back().lines.push_back(line);
    } else {
      page.other.push_back(line);
    }
    begins = false;
  }
  return page;
}

int shown_exit_code(const std::string& command) {
  static const std::regex code("# exit code (\\d+)");
  std::smatch found;
  return std::regex_search(command, found, code) ? std::stoi(found[1]) : 0;
}

bool same_line(const std::string& shown, const std::string& printed) {
  const std::vector<std::string> a = words_of(shown), b = words_of(printed);
  return same_words(a.begin(), a.end(), b.begin(), b.end());
}

std::string missing_line(const std::vector<std::string>& shown, const std::string& printed) {
  std::istringstream in(printed);
  for (const std::string& line : shown) {
    if (line == kDots || line == "^C" || words_of(line).empty()) continue;
    bool found = false;
    for (std::string there; !found && std::getline(in, there);) found = same_line(line, there);
    if (!found) return line;
  }
  return "";
}

std::vector<std::string> numbers_in(const std::vector<std::string>& prose) {
  static const std::regex code("`[^`]*`"), number("(^|[^\\w.])(\\d+\\.\\d+|\\d+(?= %))(?![\\w.]*\\d)");
  std::vector<std::string> numbers;
  for (const std::string& line : prose) {
    if (line.starts_with("![")) continue;
    const std::string text = std::regex_replace(line, code, "");
    for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it)
      numbers.push_back((*it)[2]);
  }
  return numbers;
}

bool is_printed(const std::string& number, const std::string& output) {
  static const std::regex any("\\d+(\\.\\d+)?(e[+-]?\\d+)?");
  const size_t dot = number.find('.');
  const double wanted = std::stod(number),
               last = std::pow(10.0, dot == number.npos ? 0 : -double(number.size() - dot - 1));
  for (std::sregex_iterator it(output.begin(), output.end(), any), end; it != end; ++it)
    if (const double found = std::strtod(it->str().c_str(), nullptr);
        found > wanted - last && found < wanted + last)
      return true;
  return false;
}

std::string change_text(std::string& text, const std::vector<std::string>& change) {
  size_t at = 0;
  for (const std::string& line : change) {
    const std::string content = line.substr(1) + "\n";
    if (line[0] == '+') {
      text.insert(at, content);
    } else {
      at = text.find(content, at);
      if (at == text.npos) return line;
      if (line[0] == '-') text.erase(at, content.size());
    }
    if (line[0] != '-') at += content.size();
  }
  return "";
}

}  // namespace lunagrad::test
