#pragma once
// Hints for Lua's own error messages: the name that was probably meant, or a dot used instead of a colon.
// Private to script/; called by the message handler, while the stack of the error still exists.
#include <lua.hpp>
#include <string>

namespace lunagrad {

std::string memory_error(lua_State*);  // "not enough memory within the limit of 32 MiB (--memory)"
// The message at the top of the stack with every hint appended, as traceback_call returns it.
std::string advised_message(lua_State*);

// "'parameters' is a method: …" when the script called a library function with '.' instead of ':', or the
// reverse; otherwise "". `user_level` is the stack level of the script's innermost function.
std::string describe_wrong_call(lua_State*, int user_level);
// For an error about nil: appends which name is misspelt, as "; did you mean 'model'?". Lua's text about a
// field that an object of a script's class lacks is replaced: "train.lua:12: Block has no field 'dwon'".
// Returns whether the message is complete. `line`: of the script. in_script: Lua raised the error there, not
// in the library.
bool explain_missing(lua_State*, int user_level, int line, bool in_script, std::string& message);
// "in model.fc1 (Linear): " for an error inside a module that another module called; otherwise "".
std::string module_path(lua_State*);
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
