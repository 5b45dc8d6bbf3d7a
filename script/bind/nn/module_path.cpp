#include "script/bind/nn/module_path.h"

#include <cstring>
#include <string>
#include <unordered_map>

#include "runtime/core/context.h"
#include "runtime/core/terminal_text.h"
#include "runtime/tape/backward.h"
#include "runtime/tape/other_names.h"
#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/lua/module_ids.h"

namespace lunagrad {
namespace {

constexpr char kResolve = 0;  // its address is the key of path_of_call of names.lua in the registry

// The interned path "parent.label". Cached, so that each path is joined once per thread.
uint32_t child_path(uint32_t parent, uint32_t label) {
  thread_local std::unordered_map<uint64_t, uint32_t> paths;
  uint32_t& path = paths[uint64_t(parent) << 32 | label];
  if (path == 0) path = intern(interned(parent) + "." + interned(label));
  return path;
}

// Pushes the name by which the running call refers to the module, as "embed" in self.embed(x); nil when it is
// not a field.
void push_called_as(lua_State* L, int module) {
  constexpr int kFarthest = 8;  // hooks of the module lie between its __call and here
  const int top = lua_gettop(L);
  lua_Debug frame;
  if (luaL_getmetafield(L, module, "__call") != LUA_TNIL) {
    for (int level = 1; level < kFarthest && lua_getstack(L, level, &frame); ++level) {
      lua_getinfo(L, "nf", &frame);
      const bool is_call = lua_rawequal(L, -1, top + 1);
      lua_pop(L, 1);
      if (!is_call) continue;
      const bool field = frame.name && (std::strcmp(frame.namewhat, "field") == 0 ||
                                        std::strcmp(frame.namewhat, "method") == 0);
      lua_settop(L, top);
      return field ? void(lua_pushstring(L, frame.name)) : lua_pushnil(L);
    }
  }
  lua_settop(L, top);
  lua_pushnil(L);
}

// Asks names.lua. A name is for people: when the search fails, the call goes on without.
uint32_t resolve(lua_State* L, int module) {
  luaL_checkstack(L, 8, "module");
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kResolve) != LUA_TFUNCTION) return lua_pop(L, 1), 0;
  lua_pushvalue(L, module);
  push_string(L, interned(context().module));
  push_called_as(L, module);
  const bool found = lua_pcall(L, 3, 1, 0) == LUA_OK;
  const auto id = found ? uint32_t(lua_tointeger(L, -1)) : 0;
  lua_pop(L, 1);
  return id;
}

enum class Kind : uint8_t { main, local, upvalue, loop, parameter };

void add_variable(lua_State* L, int list, const char* name, Kind kind) {  // pops the value
  constexpr const char* kNames[] = {"main", "local", "upvalue", "loop", "parameter"};
  if (!lua_istable(L, -1)) return lua_pop(L, 1);
  lua_createtable(L, 3, 0);
  lua_pushstring(L, name);
  lua_rawseti(L, -2, 1);
  lua_insert(L, -2);
  lua_rawseti(L, -2, 2);
  lua_pushstring(L, kNames[size_t(kind)]);
  lua_rawseti(L, -2, 3);
  lua_rawseti(L, list, lua_Integer(lua_rawlen(L, list)) + 1);
}

// The variables of the script's functions that are active on `from`, the outermost function first.
// `outermost`: no function of the script was found before.
void add_functions(lua_State* L, int list, lua_State* from, bool& outermost) {
  constexpr int kDeepest = 1000;  // limits the work: lua_getstack walks from the innermost level at each call
  luaL_checkstack(L, 8, "variables");
  if (!lua_checkstack(from, 2)) return;
  const auto fetch = [&] {
    if (from != L) lua_xmove(from, L, 1);
  };
  lua_Debug frame;
  int depth = 0;
  while (depth < kDeepest && lua_getstack(from, depth, &frame)) ++depth;
  for (int level = depth - 1; level >= 0; --level) {
    if (!lua_getstack(from, level, &frame)) continue;
    lua_getinfo(from, "Slu", &frame);
    if (frame.currentline < 0 || binding_state(from).chunk(frame).library) continue;
    bool in_loop = false;  // a loop's variables lie behind its state
    for (int i = 1; const char* const name = lua_getlocal(from, &frame, i); ++i) {
      fetch();
      in_loop |= std::strcmp(name, "(for state)") == 0;
      if (*name == '(') {
        lua_pop(L, 1);
      } else {
        const Kind lasting = outermost ? Kind::main : Kind::local;
        add_variable(L, list, name, i <= frame.nparams ? Kind::parameter : in_loop ? Kind::loop : lasting);
      }
    }
    outermost = false;
    lua_getinfo(from, "f", &frame);
    fetch();
    const int function = lua_gettop(L);
    for (int i = 1; const char* const name = lua_getupvalue(L, function, i); ++i)
      if (std::strcmp(name, "_ENV") != 0 && *name != '(' && *name != '\0')
        add_variable(L, list, name, Kind::upvalue);
      else
        lua_pop(L, 1);
    lua_pop(L, 1);
  }
}

}  // namespace

uint32_t path_of_call(lua_State* L, uint32_t label, int module) {
  const uint32_t above = context().module;
  if (above != 0 && label != 0) [[likely]]
    return child_path(above, label);
  module = lua_absindex(L, module);
  if (lua_istable(L, module)) {
    if (above == 0)
      if (const uint32_t id = module_id(L, module)) return id;
    if (const uint32_t id = resolve(L, module)) return id;
  }
  return above == 0 || label == 0 ? (label ? label : above) : child_path(above, label);
}

// _module_names(ids, resolve): the table module -> id of its name, and path_of_call of names.lua
int module_names(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kResolve);
  set_module_ids(L);
  return 0;
}

// _note_other_name(name, other): a shared module or parameter has both names
int note_shared(lua_State* L) {
  const uint32_t name = intern(terminal_line(check_string(L, 1, "_note_other_name")));
  note_other_name(name, intern(terminal_line(check_string(L, 2, "_note_other_name"))));
  return 0;
}

// _passes() -> the number of backward passes so far
int passes(lua_State* L) {
  lua_pushinteger(L, lua_Integer(backward_passes()));
  return 1;
}

// _variables() -> {{name, value, kind}, …}: the variables that hold tables, of the script's active functions
// and of the functions around them. kind: "main" for locals of the outermost function, "local", "upvalue",
// "loop" for variables inside a loop, "parameter".
int variables(lua_State* L) {
  lua_newtable(L);
  const int list = lua_gettop(L);
  bool outermost = true;
  lua_State* const main = binding_state(L).main;
  add_functions(L, list, main, outermost);
  if (main != L) add_functions(L, list, L, outermost);
  return 1;
}

}  // namespace lunagrad
