#pragma once
// Detects what a read-only evaluation changed in a script: the globals, the locals and upvalues of functions,
// and the fields of the tables that these lead to. The footprint is made before the evaluation.
// undo_changes() finds changes, reverts all of them, and names the first. The tables of the bundled library
// and of Lua's own, and lists of more than 10,000 items, are left out. For the session's thread, in protected
// calls.
#include <lua.hpp>
#include <string>

namespace lunagrad {

// Pushes a footprint of all that the active functions of `script` can reach. `L` is another thread of the
// same state.
void push_footprint(lua_State* L, lua_State* script);
// Compares with the footprint at `index`. Returns "" when nothing changed; otherwise undoes every change and
// returns the name of the first, such as "model.scale".
std::string undo_changes(lua_State* L, lua_State* script, int index);

}  // namespace lunagrad
