#include "script/lua/console_scope.h"

#include <cstring>

#include "script/lua/binding_state.h"
#include "script/lua/guard.h"

namespace lunagrad {
namespace {

constexpr char kConsole = 0;  // registry key of the environment
constexpr char kScript = 0;   // registry key of the state whose locals are visible

// __newindex of the environment: assigns to the script's local of that name, or else to a global.
int assign(lua_State* L) {
  bool assigned = false;
  lua_State* const script = seen_script(L);
  if (script && lua_type(L, 2) == LUA_TSTRING && lua_checkstack(script, 1))
    visit_script_locals(script, [&](const lua_Debug& frame, int index, const char* name) {
      if (std::strcmp(name, lua_tostring(L, 2)) != 0) return false;
      lua_pushvalue(L, 3);
      lua_xmove(L, script, 1);
      lua_setlocal(script, &frame, index);
      return assigned = true;
    });
  if (assigned) {  // also update the copy that the rest of the line reads
    lua_getmetatable(L, 1);
    lua_getfield(L, -1, "__index");
  } else {
    lua_pushglobaltable(L);
  }
  lua_replace(L, 1);
  lua_settop(L, 3);
  lua_settable(L, 1);
  return 0;
}

// Pops a table and makes it the __index of the console's environment.
void show_behind(lua_State* L) {
  push_console(L);
  lua_getmetatable(L, -1);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 3);
}

}  // namespace

lua_State* seen_script(lua_State* L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kScript);
  auto* const script = static_cast<lua_State*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return script;
}

void push_console(lua_State* L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kConsole) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_newtable(L);
  lua_pushglobaltable(L);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, guard<assign>);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "lunagrad");
  lua_call(L, 1, 1);
  lua_pushliteral(L, "lg");
  lua_insert(L, -2);
  lua_rawset(L, -3);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kConsole);
}

// Visits only the script's own functions, and skips Lua's internal variables, whose names begin with '('.
void visit_script_locals(lua_State* script,
                         const std::function<bool(const lua_Debug&, int, const char*)>& visit) {
  constexpr int kDeepest = 1000;  // limits the work: lua_getstack walks from the innermost level at each call
  lua_Debug frame;
  for (int level = 0; level < kDeepest && lua_getstack(script, level, &frame); ++level) {
    lua_getinfo(script, "Sl", &frame);
    if (frame.currentline < 0 || binding_state(script).chunk(frame).library) continue;
    int count = 0;
    while (lua_getlocal(script, &frame, count + 1)) {
      ++count;
      lua_pop(script, 1);
    }
    for (int i = count; i > 0; --i) {  // a later local hides an earlier one of the same name
      const char* const name = lua_getlocal(script, &frame, i);
      lua_pop(script, 1);
      if (*name != '(' && visit(frame, i, name)) return;
    }
  }
}

void see_locals(lua_State* L, lua_State* script) {
  if (!lua_checkstack(script, 1)) return;
  lua_newtable(L);
  visit_script_locals(script, [&](const lua_Debug& frame, int index, const char* name) {
    lua_pushstring(L, name);
    if (lua_rawget(L, -2) == LUA_TNIL) {
      lua_pushstring(L, name);
      lua_getlocal(script, &frame, index);
      lua_xmove(script, L, 1);
      lua_rawset(L, -4);
    }
    lua_pop(L, 1);
    return false;
  });
  lua_newtable(L);
  lua_pushglobaltable(L);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  show_behind(L);
  lua_pushlightuserdata(L, script);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kScript);
}

void forget_locals(lua_State* L) {
  lua_pushglobaltable(L);
  show_behind(L);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kScript);
}

}  // namespace lunagrad
