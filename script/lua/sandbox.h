#pragma once
// The Lua library of an untrusted script: base without dofile and loadfile, coroutine, table, string
// without dump, math, utf8, os.time, clock and date, and require of the bundled library and of the script's
// own folder. Functions that reach outside of the state are absent, not hidden. file_limits.h limits the
// paths of files. Called by new_state and open_lunagrad.
#include <lua.hpp>

namespace lunagrad {

void open_sandbox_libraries(lua_State*);
// Once the searchers of require stand: takes away what only they needed, and puts guards around the rest.
void close_sandbox(lua_State*);
// Metatables of userdata out of the script's reach: their finalizers are for the collector alone.
void hide_metatables(lua_State*);

}  // namespace lunagrad
