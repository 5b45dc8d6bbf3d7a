#include "runtime/core/terminal_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace lunagrad {
namespace {

// Bytes of the character that begins with `first`; 0: no character does.
size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;  // a continuation byte, or the start of an overlong form
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}

struct Character {
  uint32_t code = 0;
  size_t length = 0;  // 0: the bytes are not UTF-8
};

Character character_at(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = length_of(byte(0));
  if (length == 1) return {byte(0), 1};
  if (length == 0 || length > text.size()) return {};
  uint32_t code = byte(0) & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[length] || code > 0x10ffff || surrogate ? Character() : Character{code, length};
}

bool drives_terminal(uint32_t code) {
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  if (code < 0x61c) return false;
  // Arabic letter mark; marks, embeddings, overrides and isolates of direction; separators of lines.
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character at = character_at(text);
    char shown[8];
    if (at.length == 0) {
      std::snprintf(shown, sizeof shown, "\\x%02x", unsigned(static_cast<unsigned char>(text[0])));
      out += shown;
    } else if (drives_terminal(at.code) && kept.find(text[0]) == kept.npos) {
      std::snprintf(shown, sizeof shown, "\\u%04x", unsigned(at.code));
      out += shown;
    } else {
      out += text.substr(0, at.length);
    }
    text.remove_prefix(std::max<size_t>(at.length, 1));
  }
  return out;
}

}  // namespace

std::string terminal_text(std::string_view text) { return escaped(text, "\t\n"); }

std::string terminal_line(std::string_view text) { return escaped(text, ""); }

size_t begun_character(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) != 0x80) return length_of(byte) > back ? back : 0;
  }
  return 0;
}

}  // namespace lunagrad
