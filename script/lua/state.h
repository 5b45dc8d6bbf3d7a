#pragma once
// The Lua state of a session: its allocator, and the module "lunagrad.core" on which lua/lunagrad is built. A
// state belongs to the thread that made it and uses that thread's Context. Lua is compiled as C++
// (cmake/lua.cmake), because Lua errors must unwind C++ objects.
//
// To add a native submodule from another file of script/ (say lg.run):
//   int log(lua_State* L) { Run& run = *module_owner<Run>(L); …; return 0; }      // may throw std::exception
//   constexpr luaL_Reg kFunctions[] = {{"log", guard<log>}, {nullptr, nullptr}};   // guard.h
//   add_module(L, "run", kFunctions, &run);
// This makes core.run.log; lua/lunagrad/init.lua copies core.run into `lg`.
#include <cstddef>
#include <functional>
#include <lua.hpp>
#include <string>

namespace lunagrad {

struct StateOptions {
  std::string script_directory;  // where `require` looks first; "" = the working folder
  size_t memory_limit = 0;       // bytes of Lua's heap and the thread's tensors together, 0 = no limit
  bool sandbox = false;          // only the library that sandbox.h describes
  // Called with the file of each module that `require` finds outside the bundled library.
  std::function<void(const std::string&)> on_module;
};

// Makes a state with Lua's standard library and the searchers of `require`. The caller closes it with
// close_state. Error of kind memory when there is too little.
lua_State* new_state(const StateOptions& = {});
void close_state(lua_State*);
// Makes require "lunagrad", "lunagrad.core" and "lunagrad.*" work. Call once, after new_state.
void open_lunagrad(lua_State*);

// Sets core[name] to a table of `functions`, each with `owner` as its first upvalue.
void add_module(lua_State*, const char* name, const luaL_Reg* functions, void* owner);
template <class T>
T* module_owner(lua_State* L) {
  return static_cast<T*>(lua_touserdata(L, lua_upvalueindex(1)));
}

}  // namespace lunagrad
