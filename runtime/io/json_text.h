#pragma once
// JSON texts of files. nlohmann's parser needs no stack, but to copy, compare or print what it makes does,
// and a byte of a text can make 30 bytes of values: the nesting and the memory are counted before a text is
// parsed. Any thread.
#include <nlohmann/json.hpp>
#include <string_view>

#include "runtime/io/read_budget.h"

namespace lunagrad {

inline constexpr int kDeepestJson = 4 * kDeepestNesting;  // a table of lg.io.save is three levels of JSON

struct JsonExtent {
  int depth = 0;       // of its lists and objects
  uint64_t bytes = 0;  // of its values in memory, at most
};
JsonExtent extent_of_json(std::string_view text);

// Error of kind file that begins with `where` for a text that nests deeper than kDeepestJson, of kind memory
// for values that do not fit the thread's memory limit.
void check_json(std::string_view text, std::string_view where);

// The value of a text; discarded if it is no JSON, or nests too deeply.
template <class Json>
Json read_json(std::string_view text) {
  const JsonExtent extent = extent_of_json(text);
  if (extent.depth > kDeepestJson) return Json(Json::value_t::discarded);
  HeldMemory().add(size_t(extent.bytes), "a JSON text");
  return Json::parse(text, nullptr, false);
}

// The same with an error: that of check_json, or an exception of nlohmann::json for what is no JSON.
template <class Json>
Json parse_json(std::string_view text, std::string_view where) {
  check_json(text, where);
  return Json::parse(text);
}

}  // namespace lunagrad
