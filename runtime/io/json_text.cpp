#include "runtime/io/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/core/error.h"

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

template <class Json>
Json read_json(std::string_view text) {
  const JsonExtent extent = extent_of_json(text);
  if (extent.depth > kDeepestJson) return Json(Json::value_t::discarded);
  HeldMemory().add(size_t(extent.bytes), "a JSON text");
  return Json::parse(text, nullptr, false);
}
template <class Json>
Json parse_json(std::string_view text, std::string_view where) {
  check_json(text, where);
  return Json::parse(text);
}
// Compiled here alone: the parser takes seconds to compile.
template nlohmann::json read_json(std::string_view);
template nlohmann::ordered_json read_json(std::string_view);
template nlohmann::json parse_json(std::string_view, std::string_view);
template nlohmann::ordered_json parse_json(std::string_view, std::string_view);

}  // namespace lunagrad
