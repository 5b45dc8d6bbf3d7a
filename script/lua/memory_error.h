#pragma once
// What a script is told when Lua has no memory: Lua's own message does not name the limit. For the thread of
// the Lua state.
#include <lua.hpp>
#include <string>

namespace lunagrad {

std::string memory_error(lua_State*);  // "not enough memory within the limit of 32 MiB (--memory)"

}  // namespace lunagrad
