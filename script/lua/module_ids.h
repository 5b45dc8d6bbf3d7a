#pragma once
// The names of the script's models and of the modules inside them, which lua/lunagrad/nn/names.lua gives, as
// interned ids. Private to script/; for the state's thread.
#include <cstdint>
#include <lua.hpp>

namespace lunagrad {

// Pops the table module -> id, whose later entries count, too.
void set_module_ids(lua_State*);
// The id of the name of the value at `index`; 0: it is no module, or has no name yet.
uint32_t module_id(lua_State*, int index);

}  // namespace lunagrad
