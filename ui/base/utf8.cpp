#include "ui/base/utf8.h"

#include <algorithm>

namespace lunagrad {

size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : 0u; };
  const auto continues = [&](size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool second = continues(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool second = continues(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

size_t utf8_next(std::string_view line, size_t at) {
  if (at >= line.size()) return line.size();
  return at + std::max<size_t>(utf8_sequence(line.substr(at)), 1);
}

size_t utf8_start(std::string_view line, size_t at) {
  if (at >= line.size()) return line.size();
  for (size_t back = 1; back <= 3 && back <= at; ++back)
    if (utf8_sequence(line.substr(at - back)) > back) return at - back;
  return at;
}

size_t utf8_previous(std::string_view line, size_t at) {
  return at == 0 ? 0 : utf8_start(line, std::min(at, line.size()) - 1);
}

std::string utf8_of(uint32_t c) {
  const auto tail = [](uint32_t bits) { return char(0x80 | (bits & 0x3f)); };
  if (c < 0x80) return {char(c)};
  if (c < 0x800) return {char(0xc0 | c >> 6), tail(c)};
  if (c >= 0xd800 && c <= 0xdfff) c = 0xfffd;  // surrogates are not characters
  if (c < 0x10000) return {char(0xe0 | c >> 12), tail(c >> 6), tail(c)};
  return {char(0xf0 | c >> 18), tail(c >> 12), tail(c >> 6), tail(c)};
}

}  // namespace lunagrad
