#pragma once
// A line of the console: evaluated in the script's state, its results shown as a reader wants them; and the
// names that could follow what was typed. On the session's thread, outside of protected calls.
#include <lua.hpp>
#include <string>
#include <vector>

#include "runtime/tensor.h"
#include "script/lua/state.h"

namespace lunagrad {

// Runs an expression or statements and emits its results as output events; `L` is the script's state. False
// and the error when it failed.
bool evaluate_console(lua_State* L, const std::string& code, ScriptError&);
// The whole names that could follow the last name in `line`, sorted.
std::vector<std::string> complete_console(lua_State* L, const std::string& line);
// A name that console lines see.
void bind_console(lua_State* L, const char* name, const Tensor&);

}  // namespace lunagrad
