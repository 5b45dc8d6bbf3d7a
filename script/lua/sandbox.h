#pragma once
// The Lua library of an untrusted script: base without dofile and loadfile, coroutine, table, string
// without dump, math, utf8, os.time, clock and date, and require of the bundled library and of the script's
// own folder. Functions that reach outside of the state are absent, not hidden. file_limits.h limits the
// paths of files. Called by new_state and open_lunagrad.
#include <lua.hpp>

namespace lunagrad {

void open_sandbox_libraries(lua_State*);
// Call it after the searchers of require are installed. Limits files, removes package, dofile, loadfile and
// string.dump, and restricts load, setmetatable, collectgarbage and string.rep.
void close_sandbox(lua_State*);
// Hides the metatables of userdata from the script, which must not call their finalizers.
void hide_metatables(lua_State*);

}  // namespace lunagrad
