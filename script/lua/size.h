#pragma once
// The tables that give the sizes of a tensor, as x.shape does: lists that compare by their elements, print
// them, and count negative positions from the end. For the state's thread.
#include <lua.hpp>

#include "runtime/core/shape.h"

namespace lunagrad {

// Pushes a list that compares by its elements and prints them.
void push_dims(lua_State*, const Dims&);
bool is_dims(lua_State*, int index);  // whether push_dims made the value

}  // namespace lunagrad
