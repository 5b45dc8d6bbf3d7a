#include "runtime/io/json_text.h"

#include <algorithm>

#include "runtime/error.h"

namespace lunagrad {

JsonExtent extent_of_json(std::string_view text) {
  // Bytes that a list or object, an element, a member of an object, and a text take; vectors double.
  constexpr uint64_t kContainer = 64, kElement = 32, kMember = 96, kText = 64;
  JsonExtent extent{0, text.size() + kElement};
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        extent.bytes += kText;
        for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
        break;
      case '[':
      case '{':
        extent.bytes += kContainer + kElement;
        extent.depth = std::max(extent.depth, ++depth);
        break;
      case ']':
      case '}':
        --depth;
        break;
      case ',':
        extent.bytes += kElement;
        break;
      case ':':
        extent.bytes += kMember;
        break;
      default:
        break;
    }
  }
  return extent;
}

void check_json(std::string_view text, std::string_view where) {
  const JsonExtent extent = extent_of_json(text);
  if (extent.depth > kDeepestJson)
    fail_as(ErrorKind::file, where, ": ", extent.depth, " lists and objects within each other; at most ",
            kDeepestJson, " are read");
  HeldMemory().add(size_t(extent.bytes), where);
}

}  // namespace lunagrad
