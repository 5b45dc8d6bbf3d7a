#pragma once
// The length of a list that a script gives (convert.cpp). For the state's thread.
#include "script/lua/convert.h"

namespace lunagrad {

// The number of entries of the table at `index`, which is `argument` or lies in it. Error when the table has
// a length of its own (__len), which may differ from its entries.
int64_t list_length(lua_State*, int index, int argument, Callee);

}  // namespace lunagrad
