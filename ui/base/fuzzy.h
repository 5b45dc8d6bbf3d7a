#pragma once
// How well an abbreviation matches a name. Pure; any thread.
#include <optional>
#include <string_view>

namespace lunagrad {

// Returns nothing unless the letters of `typed` occur in `name` in order, ignoring case and spaces. Higher is
// better: letters at the start of words and consecutive letters score more; among equal matches the shorter
// name wins.
std::optional<int> fuzzy_score(std::string_view typed, std::string_view name);

}  // namespace lunagrad
