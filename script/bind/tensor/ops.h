#pragma once
// The functions of Lua that run ops. For the state's thread.
#include <lua.hpp>

#include "script/meta/signature.h"

namespace lunagrad {

// Pushes the function that runs an op with the arguments of its signature. The signature must outlive the
// state.
void push_op_function(lua_State*, const Signature&);

}  // namespace lunagrad
