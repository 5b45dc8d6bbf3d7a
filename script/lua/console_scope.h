#pragma once
// What a line of the console sees: `lg`, `_` and what a viewer bound, then the local variables of the script
// where it stands, then its globals. Private to script/; on the session's thread, in protected calls.
#include <lua.hpp>

namespace lunagrad {

// Pushes the environment of console lines.
void push_console(lua_State*);
// Lets the environment show the locals of the script whose functions are active on `script`: the innermost of
// a name. What is assigned to one reaches the script.
void see_locals(lua_State*, lua_State* script);
// Shows globals alone again, and keeps no value of a local alive.
void forget_locals(lua_State*);

}  // namespace lunagrad
