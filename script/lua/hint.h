#pragma once
// What the messages of Lua's own errors leave unsaid: the name that was meant, a dot in the place of a colon.
// Private to script/; for the message handler, while the stack of the error is there.
#include <lua.hpp>
#include <string>

namespace lunagrad {

// "'parameters' is a method: …" when the script called a function of the library with '.' for ':', or the
// other way round; else "". `user_level` is that of the script's innermost function.
std::string describe_wrong_call(lua_State*, int user_level);
// What to add to a message: "; did you mean lg.zeros?".
std::string hint(const std::string& message);

}  // namespace lunagrad
