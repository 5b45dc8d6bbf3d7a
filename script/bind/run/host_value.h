#pragma once
// Values of Lua that cross to the program around the session, and back. For the session's thread.
#include <lua.hpp>
#include <string>

#include "script/session_value.h"

namespace lunagrad {

// The value at a stack index, with tensors as they are. Error, which begins with `what`, for a function and
// everything else that is no plain data, and for a table that a SessionTable cannot be.
SessionValue check_session_value(lua_State*, int index, const std::string& what);
void push_session_value(lua_State*, const SessionValue&);  // tensors are new userdata for the same tensors

}  // namespace lunagrad
