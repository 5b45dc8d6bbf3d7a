#pragma once
// Where `require` finds modules: the bundled library, the script's folder, the working folder, its
// lua_modules, and the user's data folder. Called by new_state; for the state's thread.
#include <lua.hpp>
#include <string>

namespace lunagrad {

// Installs the searchers. script_directory: where they look first; "" = the working folder.
void set_search_path(lua_State*, const std::string& script_directory);

// Pushes the function of a Lua file, or raises Lua's error. `mode` is luaL_loadfilex's: nullptr accepts
// precompiled Lua too. Throws std::bad_alloc when there is too little memory to open the file; Lua alone
// would blame the file.
void load_file(lua_State*, const std::string& path, const char* mode = "t");

}  // namespace lunagrad
