#pragma once
// Hints for Lua's own error messages: the name that was probably meant, or a dot used instead of a colon.
// Private to script/; called by the message handler, while the stack of the error still exists.
#include <lua.hpp>
#include <string>

namespace lunagrad {

// "'parameters' is a method: …" when the script called a function of the library with '.' for ':', or the
// other way round; else "". `user_level` is that of the script's innermost function.
std::string describe_wrong_call(lua_State*, int user_level);
// What to add to a message: "; did you mean lg.zeros?".
std::string hint(const std::string& message);

}  // namespace lunagrad
