#pragma once
// How well letters typed in haste fit a name. Pure; any thread.
#include <optional>
#include <string_view>

namespace lunagrad {

// Nothing unless the letters of `typed` occur in `name` in their order, case and spaces aside. The higher the
// better: letters at the start of words and in a row count more, and of equal fits the shorter name.
std::optional<int> fuzzy_score(std::string_view typed, std::string_view name);

}  // namespace lunagrad
