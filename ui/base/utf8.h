#pragma once
// Iterates over text that should be UTF-8 (RFC 3629, section 4). A byte that is not part of a valid sequence
// counts as one character. Pure; any thread.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lunagrad {

// Length of the valid sequence at the start of `text`, 0 if there is none.
size_t utf8_sequence(std::string_view text);
// The start of the character after `at`, and of the one before it.
size_t utf8_next(std::string_view line, size_t at);
size_t utf8_previous(std::string_view line, size_t at);
// The start of the character that contains byte `at`.
size_t utf8_start(std::string_view line, size_t at);

std::string utf8_of(uint32_t code_point);

}  // namespace lunagrad
