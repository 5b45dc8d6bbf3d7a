#pragma once
// Hints for Lua's own error messages: the name that was probably meant, or a dot used instead of a colon.
// Private to script/; called by the message handler, while the stack of the error still exists.
#include <lua.hpp>
#include <string>

namespace lunagrad {

std::string memory_error(lua_State*);  // "not enough memory within the limit of 32 MiB (--memory)"

// "'parameters' is a method: …" when the script called a library function with '.' instead of ':', or the
// reverse; otherwise "". `user_level` is the stack level of the script's innermost function.
std::string describe_wrong_call(lua_State*, int user_level);
// For a call of a method that is nil: "; did you mean Net:encode?" with the nearest method of the objects in
// the calling function, as of a module of the script's own class; otherwise "".
std::string missing_method(lua_State*, int user_level, const std::string& message);
// For a method that was called with a dot: "; a method is called with a colon, as in x:size(…)"; otherwise
// "".
std::string dotted_method(lua_State*, int user_level, const std::string& message);
// For a boolean that is indexed where tensors are in use: "; == asks whether …, x:eq(y) compares …";
// otherwise "".
std::string compared_tensors(lua_State*, int user_level, const std::string& message);
// The text to append to a message: "; did you mean lg.zeros?", or "".
std::string hint(const std::string& message);

}  // namespace lunagrad
