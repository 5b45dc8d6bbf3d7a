#pragma once
// Hints for Lua's own error messages: the name that was probably meant, or a dot used instead of a colon.
// Private to script/; called by the message handler, while the stack of the error still exists.
#include <lua.hpp>
#include <string>

namespace lunagrad {

std::string memory_error(lua_State*);  // "not enough memory within the limit of 32 MiB (--memory)"
// The message at the top of the stack with all that follows, as traceback_call gives it.
std::string advised_message(lua_State*);

// "'parameters' is a method: …" when the script called a function of the library with '.' instead of ':', or
// the other way round; otherwise "". `user_level` is the stack level of the script's innermost function.
std::string describe_wrong_call(lua_State*, int user_level);
// For an error about nil: adds to the message which name is misspelt, as "; did you mean 'model'?". What Lua
// says about a field that an object of a script's class lacks is replaced: "train.lua:12: Block has no field
// 'dwon'". Returns whether nothing is left to say. `line`: of the script; in_script: whether Lua raised the
// error there, and not in the library.
bool explain_missing(lua_State*, int user_level, int line, bool in_script, std::string& message);
// "in model.fc1 (Linear): " for an error inside a module that another module called; otherwise "".
std::string module_path(lua_State*);
// For a call of a method that is nil: "; did you mean Net:encode?" with the nearest method of an object of
// the calling function, as a module of the script's own class; otherwise "".
std::string missing_method(lua_State*, int user_level, const std::string& message);
// For a method that a dot called: "; a method is called with a colon, as in x:size(…)"; otherwise "".
std::string dotted_method(lua_State*, int user_level, const std::string& message);
// For a boolean that is indexed where there are tensors: "; == asks whether …, x:eq(y) compares …"; otherwise
// "".
std::string compared_tensors(lua_State*, int user_level, const std::string& message);
// The text to append to a message: "; did you mean lg.zeros?", or "".
std::string hint(const std::string& message);

}  // namespace lunagrad
