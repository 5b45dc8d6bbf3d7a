#pragma once
// JSON texts of files. nlohmann's parser uses no stack for nesting, but copying, comparing or printing its
// values does, and one byte of text can make 30 bytes of values. So the nesting and the memory are counted
// before a text is parsed. Any thread.
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "runtime/io/read_budget.h"

namespace lunagrad {

using SortedJson = nlohmann::json;  // its objects sort their keys

inline constexpr int kDeepestJson = 4 * kDeepestNesting;  // a table of lg.io.save is three levels of JSON

struct JsonExtent {
  int depth = 0;       // of lists and objects
  uint64_t bytes = 0;  // upper bound of the values' memory
};
JsonExtent extent_of_json(std::string_view text);

// Error of kind file, which begins with `where`, for a text that nests deeper than kDeepestJson. Error of
// kind memory for values that do not fit the thread's memory limit.
void check_json(std::string_view text, std::string_view where);

// The value of a text; discarded if it is not JSON, or nests too deeply.
template <class Json>
Json read_json(std::string_view text);

// parse with errors: the errors of check_json, or an exception of nlohmann::json for a text that is not JSON.
template <class Json>
Json parse_json(std::string_view text, std::string_view where);

}  // namespace lunagrad
