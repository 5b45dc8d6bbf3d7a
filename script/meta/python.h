#pragma once
// What Lua has for the words and the syntax of Python, for the errors of scripts that were translated. No
// Lua; any thread.
#include <string>
#include <string_view>

namespace lunagrad {

// For a global of Python that a script calls or indexes: "; the length of x is #x" for "len"; "" for others.
std::string python_global(std::string_view name);
// For a syntax error with Lua's `message` in `source`: what to write for the Python in that line, as
// "; not equal is ~="; "" where none is recognized.
std::string python_syntax(std::string_view source, const std::string& message);

}  // namespace lunagrad
