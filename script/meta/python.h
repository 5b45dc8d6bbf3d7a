#pragma once
// What Lua has for the words and the syntax of Python, for the errors of scripts that were translated. No
// Lua; any thread.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lunagrad {

// For a global of Python that a script calls or indexes: "; the length of x is #x" for "len"; "" for others.
std::string python_global(std::string_view name);
// For a method of Python's lists, dicts and strings that is called on a table or on text; "" for others.
std::string python_method(std::string_view name);
// The lines where a script takes a tuple of Python apart, as x:max(2)[1], each with what to write: in Lua the
// call gives several values, and the index takes a row of the first one.
std::vector<std::pair<int, std::string>> python_tuples(std::string_view source);
// For a syntax error with Lua's `message` in `source`: what to write for the Python in that line, as
// "; not equal is ~="; "" where none is recognized.
std::string python_syntax(std::string_view source, const std::string& message);

}  // namespace lunagrad
