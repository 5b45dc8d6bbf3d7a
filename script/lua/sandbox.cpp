#include "script/lua/sandbox.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/module_search.h"

namespace lunagrad {
namespace {

void open(lua_State* L, const char* name, lua_CFunction library) {
  luaL_requiref(L, name, library, 1);
  lua_pop(L, 1);
}

// Calls upvalue 1 with the arguments that are on the stack.
int call_original(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

// load() for text only: Lua does not verify bytecode, and a forged chunk could read and write all memory.
int load_text(lua_State* L) {
  if (lua_gettop(L) < 3) lua_settop(L, 3);
  lua_pushliteral(L, "t");
  lua_replace(L, 3);
  return call_original(L);
}

// Refuses finalizers: Lua runs them with hooks disabled, so nothing could interrupt them.
int set_metatable(lua_State* L) {
  if (lua_istable(L, 2)) {
    lua_pushliteral(L, "__gc");
    if (lua_rawget(L, 2) != LUA_TNIL) fail("setmetatable: a sandboxed script has no finalizers (__gc)");
    lua_pop(L, 1);
  }
  return call_original(L);
}

int collect_garbage(lua_State* L) {
  const std::string_view what = lua_isnoneornil(L, 1) ? "collect" : check_string(L, 1, "collectgarbage");
  if (what != "collect" && what != "count" && what != "step")
    fail("collectgarbage: a sandboxed script has 'collect', 'count' and 'step' (got '", what, "')");
  return call_original(L);
}

// string.rep of an empty string: Lua would loop n times, and nothing could interrupt it.
int repeat_text(lua_State* L) {
  const bool nothing_between =
      lua_isnoneornil(L, 3) || (lua_type(L, 3) == LUA_TSTRING && lua_rawlen(L, 3) == 0);
  if (lua_type(L, 1) == LUA_TSTRING && lua_rawlen(L, 1) == 0 && nothing_between) {
    luaL_checkinteger(L, 2);
    lua_pushliteral(L, "");
    return 1;
  }
  return call_original(L);
}

// Replaces a field of the table at the top of the stack by `function`, whose upvalue 1 is the original.
void wrap(lua_State* L, const char* name, lua_CFunction function) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
}

void remove_fields(lua_State* L, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    lua_pushnil(L);
    lua_setfield(L, -2, name);
  }
}

// package.searchers[3]: searches module a.b in the script's folder and in its lua_modules; loads text only.
int search_project(lua_State* L) {
  const std::string name(check_string(L, 1, "require"));
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  });
  if (!plain || name.empty() || name.find("..") != std::string::npos || name.front() == '.')
    fail("require: '", name, "' is no module's name in a sandbox");
  std::string path = name;
  std::replace(path.begin(), path.end(), '.', '/');
  const FileLimits& files = binding_state(L).files;
  const std::string& project = files.readable.at(0);
  std::string tried;
  for (const char* place : {"/", "/lua_modules/"}) {
    for (const char* ending : {".lua", "/init.lua"}) {
      const std::string file = project + place + path + ending;
      tried += "\n\tno file '" + file + "'";
      if (const auto text = binding_state(L).modules.find(file); text != binding_state(L).modules.end()) {
        if (binding_state(L).on_module) binding_state(L).on_module(file);
        if (luaL_loadbufferx(L, text->second.data(), text->second.size(), ("@" + file).c_str(), "t") !=
            LUA_OK)
          return lua_error(L);
        push_string(L, file);
        return 2;
      }
      if (access(file.c_str(), R_OK) != 0) continue;
      if (binding_state(L).on_module) binding_state(L).on_module(file);
      files.check(file, FileUse::read, "require");
      if (binding_state(L).on_module) binding_state(L).on_module(file);
      load_file(L, file);
      push_string(L, file);
      return 2;
    }
  }
  push_string(L, tried);
  return 1;
}

}  // namespace

void open_sandbox_libraries(lua_State* L) {
  open(L, LUA_GNAME, luaopen_base);
  open(L, LUA_LOADLIBNAME, luaopen_package);
  open(L, LUA_COLIBNAME, luaopen_coroutine);
  open(L, LUA_TABLIBNAME, luaopen_table);
  open(L, LUA_STRLIBNAME, luaopen_string);
  open(L, LUA_MATHLIBNAME, luaopen_math);
  open(L, LUA_UTF8LIBNAME, luaopen_utf8);
  // os is a new table with three functions, so the other functions are unreachable.
  luaL_requiref(L, "os", luaopen_os, 0);
  lua_newtable(L);
  for (const char* name : {"time", "clock", "date"}) {
    lua_getfield(L, -2, name);
    lua_setfield(L, -2, name);
  }
  lua_pushvalue(L, -1);
  lua_setglobal(L, "os");
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_insert(L, -2);
  lua_setfield(L, -2, "os");
  lua_pop(L, 2);
}

void close_sandbox(lua_State* L) {
  binding_state(L).files.limited = true;
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "searchers");
  lua_pushcfunction(L, guard<search_project>);
  lua_rawseti(L, -2, 3);
  lua_pop(L, 2);
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  remove_fields(L, {"package"});
  lua_pop(L, 1);
  lua_pushglobaltable(L);
  remove_fields(L, {"package", "dofile", "loadfile"});
  wrap(L, "load", guard<load_text>);
  wrap(L, "setmetatable", guard<set_metatable>);
  wrap(L, "collectgarbage", guard<collect_garbage>);
  lua_getfield(L, -1, "string");
  remove_fields(L, {"dump"});
  wrap(L, "rep", guard<repeat_text>);
  lua_pop(L, 2);
  // The metatable of all strings.
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_pushboolean(L, false);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 2);
}

void hide_metatables(lua_State* L) {
  for (lua_pushnil(L); lua_next(L, LUA_REGISTRYINDEX); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1)) continue;
    if (lua_getfield(L, -1, "__name") == LUA_TSTRING && lua_rawequal(L, -1, -3)) {
      lua_pushboolean(L, false);
      lua_setfield(L, -3, "__metatable");
    }
    lua_pop(L, 1);
  }
}

}  // namespace lunagrad
