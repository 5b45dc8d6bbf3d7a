#pragma once
// Steps through text that is meant to be UTF-8 (RFC 3629, section 4). A byte that belongs to no valid
// sequence counts as a character of its own. Pure; any thread.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lunagrad {

// Length of the valid sequence at the start of `text`, 0 if there is none.
size_t utf8_sequence(std::string_view text);
// The character behind and the one before byte `at` of a line.
size_t utf8_next(std::string_view line, size_t at);
size_t utf8_previous(std::string_view line, size_t at);
// The largest start of a character that is not behind `at`.
size_t utf8_start(std::string_view line, size_t at);

std::string utf8_of(uint32_t code_point);

}  // namespace lunagrad
