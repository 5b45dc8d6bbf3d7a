#pragma once
// The environment of a console line. Names are looked up in this order: `lg`, `_` and names bound by a
// viewer; the local variables of the script's active functions; its globals. Private to script/; for the
// session's thread, in protected calls.
#include <functional>
#include <lua.hpp>

namespace lunagrad {

// Pushes the environment of console lines.
void push_console(lua_State*);
// Makes the locals of the functions that are active on the thread `script` visible. Of several locals with
// one name the innermost is visible. An assignment changes the script's local.
void see_locals(lua_State*, lua_State* script);
// The thread whose locals are visible; null outside of a console line.
lua_State* seen_script(lua_State*);
// Calls visit(frame, index, name) for each visible local, the innermost first, until visit returns true.
void visit_script_locals(
    lua_State* script, const std::function<bool(const lua_Debug& frame, int index, const char* name)>& visit);
// Hides the locals again and releases their values.
void forget_locals(lua_State*);

}  // namespace lunagrad
