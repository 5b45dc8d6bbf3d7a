#pragma once
// What an evaluation that may only look could have changed in a script: its globals, the locals and upvalues
// of its functions, and the fields of the tables that these lead to. Made before the evaluation; undo() finds
// a change, puts everything back, and names what was written. The tables of the bundled library and of Lua's
// own, and lists of more than 10,000 items, are left out. For the session's thread, in protected calls.
#include <lua.hpp>
#include <string>

namespace lunagrad {

// Pushes what the active functions of `script` can reach, for undo_changes(). `L` is another thread of the
// same state.
void push_footprint(lua_State* L, lua_State* script);
// Compares with the footprint at `index`. "" when nothing changed; else the first thing that was written,
// such as "model.scale", after every change was undone.
std::string undo_changes(lua_State* L, lua_State* script, int index);

}  // namespace lunagrad
