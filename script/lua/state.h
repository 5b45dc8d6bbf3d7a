#pragma once
// The Lua state of a session: its allocator, its module search, the module "lunagrad.core" on which
// lua/lunagrad is built, source lines, and protected calls. A state belongs to the thread that made it and
// uses that thread's Context. Link Lua's C++ build only, because Lua errors must unwind C++ objects.
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

#include "runtime/core/error.h"
#include "runtime/core/trace.h"

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

// Pushes the function of a Lua file, or raises Lua's error. `mode` is luaL_loadfilex's: nullptr accepts
// precompiled Lua too. Throws std::bad_alloc when there is too little memory to open the file; Lua alone
// would blame the file.
void load_file(lua_State*, const std::string& path, const char* mode = "t");

// Sets core[name] to a table of `functions`, each with `owner` as its first upvalue.
void add_module(lua_State*, const char* name, const luaL_Reg* functions, void* owner);
template <class T>
T* module_owner(lua_State* L) {
  return static_cast<T*>(lua_touserdata(L, lua_upvalueindex(1)));
}

// How a protected call failed.
struct ScriptError {
  std::string message;  // "train.lua:12: matmul: …"
  // One line per frame, the innermost first; the last line names the frames of the bundled library.
  std::string traceback;
  std::string file;  // file of the error; "" when unknown
  int line = 0;
  ErrorKind kind = ErrorKind::value;  // of the engine's Error that caused the failure
};
// Like lua_pcall: calls the function below `arguments` values; returns the status. On LUA_OK the results are
// on the stack. Otherwise the function and its arguments are removed and `error` is filled.
int traceback_call(lua_State*, int arguments, int results, ScriptError& error);

// The current line of the innermost function outside the bundled library, searched from `level` outwards.
// When all functions are in the library, the current line of the innermost function.
SourceLine script_line(lua_State*, int level = 0);
// Sets context().line to the script's line. Called by C functions of the binding that may record a node.
void mark_line(lua_State*);
// The start of an error message, "train.lua:12: "; "" when no line is known.
std::string position(lua_State*);
// The chunk's name as `error` shows it: "@dir/train.lua" -> "dir/train.lua".
std::string chunk_name(const char* source);

// A function that is called after every op of the script: the session's safe point. It may raise a Lua error.
using SafePoint = void (*)(lua_State*, void* data);
void set_safe_point(lua_State*, SafePoint, void* data);

}  // namespace lunagrad
