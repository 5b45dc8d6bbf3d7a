#pragma once
// Advice for scripts that were translated from Python: what Lua has in place of Python's words and syntax. No
// Lua; any thread.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lunagrad {

// For a Python global that a script calls or indexes: "; the length of x is #x" for "len"; "" for other
// names.
std::string python_global(std::string_view name);
// For a method of Python's lists, dicts and strings that is called on a table or a string; "" for other
// names.
std::string python_method(std::string_view name);
// The lines that index the result of a call as if it were a Python tuple, as in x:max(2)[1], each with what
// to write. In Lua the call returns several values, and the index selects a row of the first.
std::vector<std::pair<int, std::string>> python_tuples(std::string_view source);
// For a syntax error in `source`, with Lua's `message`: what to write in place of the Python in that line, as
// "; not equal is ~="; "" when none is recognized.
std::string python_syntax(std::string_view source, const std::string& message);

}  // namespace lunagrad
