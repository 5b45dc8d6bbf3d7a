#pragma once
// The Lua library of a script that is not trusted: base without dofile and loadfile, coroutine, table, string
// without dump, math, utf8, os.time, clock and date, and require of the bundled library and of the script's
// own folder. What Lua offers to reach beyond is absent, not hidden. Where files may be is file_limits.h's
// part. Called by new_state and open_lunagrad.
#include <lua.hpp>

namespace lunagrad {

void open_sandbox_libraries(lua_State*);
// Once the searchers of require stand: takes away what only they needed, and puts guards around the rest.
void close_sandbox(lua_State*);
// Metatables of userdata out of the script's reach: their finalizers are for the collector alone.
void hide_metatables(lua_State*);

}  // namespace lunagrad
