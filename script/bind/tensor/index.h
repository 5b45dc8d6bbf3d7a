#pragma once
// x[k] and x[k] = v for a k that is not a string. For the state's thread.
#include <lua.hpp>

namespace lunagrad {

// They take the arguments of __index and __newindex.
int index_positions(lua_State*);
int assign_positions(lua_State*);

}  // namespace lunagrad
