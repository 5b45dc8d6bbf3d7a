#include "runtime/core/path_text.h"

#include <algorithm>
#include <cstdint>

namespace lunagrad {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

// Bytes of the UTF-8 character at the beginning of a non-empty text, 0 if the text begins with no UTF-8
// character.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t count = first >= 0xc2 && first < 0xe0   ? 2
                       : first >= 0xe0 && first < 0xf0 ? 3
                       : first >= 0xf0 && first < 0xf5 ? 4
                                                       : 0;
  // The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
  const uint8_t least = first == 0xe0   ? 0xa0
                        : first == 0xf0 ? 0x90
                                        : 0x80,
                most = first == 0xed   ? 0x9f
                       : first == 0xf4 ? 0x8f
                                       : 0xbf;
  if (count == 0 || byte(1) < least || byte(1) > most) return 0;
  for (size_t i = 2; i < count; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return count;
}

// The byte of an escape such as "\xe9" at the beginning of a text, -1 if there is none.
int escaped_byte(std::string_view text) {
  if (text.size() < 4 || text[0] != '\\' || text[1] != 'x') return -1;
  const size_t high = kDigits.find(text[2]), low = kDigits.find(text[3]);
  return high == kDigits.npos || low == kDigits.npos ? -1 : int(16 * high + low);
}

bool needs_escapes(std::string_view path) {
  for (size_t at = 0; at < path.size();) {
    const size_t count = character_bytes(path.substr(at));
    if (count == 0 || escaped_byte(path.substr(at)) >= 0) return true;
    at += count;
  }
  return false;
}

}  // namespace

std::string path_text(std::string_view path) {
  if (!needs_escapes(path)) return std::string(path);
  std::string out;
  for (size_t at = 0; at < path.size();) {
    const size_t count = path[at] == '\\' ? 0 : character_bytes(path.substr(at));
    if (count == 0) {
      const auto byte = uint8_t(path[at]);
      ((out += "\\x") += kDigits[byte >> 4]) += kDigits[byte & 15];
    }
    out += path.substr(at, count);
    at += std::max<size_t>(count, 1);
  }
  return out;
}

std::vector<std::string> path_texts(const std::vector<std::string>& paths) {
  std::vector<std::string> texts;
  for (const std::string& path : paths) texts.push_back(path_text(path));
  return texts;
}

std::string path_of_text(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const int byte = escaped_byte(text.substr(at));
    out += byte < 0 ? text[at] : char(byte);
    at += byte < 0 ? 1 : 4;
  }
  return out;
}

}  // namespace lunagrad
