#pragma once
// A line of the console is evaluated in the script's state, and its results are shown for a reader. Also the
// names that could follow the typed text. On the session's thread, outside of protected calls.
#include <lua.hpp>
#include <string>
#include <vector>

#include "runtime/core/tensor.h"
#include "script/lua/state.h"
#include "script/lua/traceback.h"
#include "script/session/events.h"

namespace lunagrad {

// Runs an expression or statements and emits the results as output events, or adds them to `results` if that
// is not null; `L` is the script's state. Returns false and sets the error on failure.
bool evaluate_console(lua_State* L, const std::string& code, Events&, std::string* results, ScriptError&);
// The complete names that could stand in place of the last name in `line`, sorted.
std::vector<std::string> complete_console(lua_State* L, const std::string& line);
// Makes a name visible to console lines.
void bind_console(lua_State* L, const char* name, const Tensor&);

}  // namespace lunagrad
