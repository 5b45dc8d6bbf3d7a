#include "script/lua/module_search.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "runtime/core/error.h"
#include "script/lua/binding_state.h"
#include "script/lua/guard.h"
#include "script/meta/library.h"
#include "script/parts/names.h"

namespace lunagrad {
namespace {

std::string in_folder(const std::string& folder) { return folder + "/?.lua;" + folder + "/?/init.lua;"; }

std::string data_folder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data)
    return std::string(data) + "/lunagrad/lua";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.local/share/lunagrad/lua";
  return {};
}

// package.searchers[2]: "lunagrad" and "lunagrad.x" come only from the bundled library, so that a script
// named lunagrad.lua cannot hide it.
int search_library(lua_State* L) {
  const std::string name = luaL_checkstring(L, 1);
  if (name != "lunagrad" && !name.starts_with("lunagrad.")) {
    lua_pushnil(L);
    return 1;
  }
  for (const PartField& field : part_fields())
    if (!field.built && name == field.module) fail_left_out("lg." + std::string(field.path));
  std::string path = name;
  std::replace(path.begin(), path.end(), '.', '/');
  path = library_directory() + "/" + path;
  for (const char* ending : {".lua", "/init.lua"}) {
    const std::string file = path + ending;
    if (access(file.c_str(), R_OK) != 0) continue;
    load_file(L, file);
    lua_pushlstring(L, file.data(), file.size());
    return 2;
  }
  fail("require: the bundled library has no module '", name, "' in ", library_directory(),
       " (LUNAGRAD_LUA may name another folder)");
}

// package.searchers[3]: the search along package.path. Calls on_module with the file before it is loaded.
// Upvalues: package.searchpath, package.
int search_files(lua_State* L) {
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_getfield(L, lua_upvalueindex(2), "path");
  lua_call(L, 2, 2);
  if (lua_isnil(L, 1)) return 1;  // not found: the message lists the files that were tried
  lua_settop(L, 1);
  const std::string file = luaL_checkstring(L, 1);
  if (const BindingState& state = binding_state(L); state.on_module) state.on_module(file);
  load_file(L, file, nullptr);
  lua_insert(L, 1);
  return 2;
}

}  // namespace

// C modules would load Lua's C build in addition to this build, so their searchers are removed.
void set_search_path(lua_State* L, const std::string& script_directory) {
  lua_getglobal(L, "package");
  std::string path;
  if (!script_directory.empty() && script_directory != ".") path += in_folder(script_directory);
  path += in_folder(".") + in_folder("./lua_modules");
  if (const std::string data = data_folder(); !data.empty()) path += in_folder(data);
  lua_getfield(L, -1, "path");
  path += lua_tostring(L, -1);
  lua_pop(L, 1);
  lua_pushlstring(L, path.data(), path.size());
  lua_setfield(L, -2, "path");
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "cpath");

  lua_getfield(L, -1, "searchers");
  lua_getfield(L, -2, "searchpath");
  lua_pushvalue(L, -3);
  lua_pushcclosure(L, guard<search_files>, 2);
  lua_rawseti(L, -2, 3);
  lua_pushcfunction(L, guard<search_library>);
  lua_rawseti(L, -2, 2);
  lua_pushnil(L);
  lua_rawseti(L, -2, 4);
  lua_pop(L, 2);
}

void load_file(lua_State* L, const std::string& path, const char* mode) {
  const int status = luaL_loadfilex(L, path.c_str(), mode);
  if (status == LUA_ERRFILE && errno == ENOMEM) throw std::bad_alloc();
  if (status != LUA_OK) lua_error(L);
}

}  // namespace lunagrad
