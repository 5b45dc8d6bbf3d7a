#pragma once
// Text from files, scripts and other programs as a terminal may show it: without the bytes that drive one.
// The only place that decides which these are. Pure; any thread.
#include <string>
#include <string_view>

namespace lunagrad {

// Control characters except tab and newline, those of C1, DEL, and the marks that turn the direction of text
// are shown as \u001b, which JSON reads as the same character; a byte that is no UTF-8 as \x9b.
std::string terminal_text(std::string_view text);
// The same for a name within a line: tab and newline, too.
std::string terminal_line(std::string_view text);
// How many bytes at the end begin a character of UTF-8 whose other bytes are not there yet.
size_t begun_character(std::string_view text);

}  // namespace lunagrad
