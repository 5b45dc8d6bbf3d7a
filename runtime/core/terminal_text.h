#pragma once
// Text from files, scripts and other programs, without the bytes that control a terminal. The only place that
// decides which bytes these are. Pure; any thread.
#include <string>
#include <string_view>

namespace lunagrad {

// Control characters except tab and newline, C1 controls, DEL, and the marks that turn the direction of text
// are shown as \u001b, which JSON reads as the same character. A byte that is not UTF-8 is shown as \x9b.
std::string terminal_text(std::string_view text);
// terminal_text() for a name within a line: escapes tab and newline, too.
std::string terminal_line(std::string_view text);
// The number of bytes at the end that begin an incomplete UTF-8 character.
size_t begun_character(std::string_view text);

}  // namespace lunagrad
