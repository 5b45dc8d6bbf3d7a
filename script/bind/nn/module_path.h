#pragma once
// The path of a module's call, as "G.0", which the nodes of its ops record. lua/lunagrad/nn/names.lua finds
// the names. Private to script/; for the state's thread.
#include <cstdint>
#include <lua.hpp>

namespace lunagrad {

// The interned path of a call of the module at stack index `module` (any value), whose name among its
// siblings is `label`; 0: names.lua must be asked. Costs one lookup in a cache inside of other modules, one
// in a Lua table outside of them.
uint32_t path_of_call(lua_State*, uint32_t label, int module);

// Functions of lunagrad.core for names.lua.
int module_names(lua_State*);
int note_shared(lua_State*);
int variables(lua_State*);
int passes(lua_State*);

}  // namespace lunagrad
