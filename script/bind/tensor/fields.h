#pragma once
// The fields of a tensor. For the state's thread.
#include <lua.hpp>

namespace lunagrad {

// Sets __index and __newindex of the tensors' metatable, which is at the top of the stack.
void set_field_events(lua_State*, int methods);

}  // namespace lunagrad
