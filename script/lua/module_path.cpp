// The nn module in which an error was raised, for its message. The stack of the error names it: the modules
// that were being called are the first values of calls of the core's _call_module.
#include <string>
#include <vector>

#include "script/lua/edge.h"
#include "script/lua/hint.h"

namespace lunagrad {
namespace {

constexpr int kDeepest = 200;  // levels that are looked at

// A text field of the module at the top of the stack, or of its class; "" when it has none.
std::string text_of(lua_State* L, const char* field, bool of_class) {
  if (of_class && !lua_getmetatable(L, -1)) return {};
  if (!of_class) lua_pushvalue(L, -1);
  lua_pushstring(L, field);
  std::string text = lua_rawget(L, -2) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  lua_pop(L, 2);
  return text;
}

// The name of the variable that holds the value at the top of the stack, in the innermost function of the
// script from `level` outwards; "" when none does.
std::string variable_of(lua_State* L, int level) {
  lua_Debug frame;
  const int value = lua_gettop(L);
  do {
    if (!lua_getstack(L, level++, &frame)) return {};
    lua_getinfo(L, "Sl", &frame);
  } while (frame.currentline < 0 || edge(L).chunk(frame).library);
  std::string found;
  const auto take = [&](const char* name) {
    if (*name != '(' && lua_rawequal(L, -1, value)) found = name;
    lua_pop(L, 1);
  };
  for (int i = 1; const char* name = lua_getlocal(L, &frame, i); ++i) take(name);
  lua_getinfo(L, "f", &frame);
  for (int i = 1; const char* name = lua_getupvalue(L, value + 1, i); ++i) take(name);
  lua_settop(L, value);
  if (!found.empty()) return found;
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2);)
    if (lua_type(L, -2) == LUA_TSTRING)
      take(lua_tostring(L, -2));
    else
      lua_pop(L, 1);
  lua_settop(L, value);
  return found;
}

}  // namespace

std::string module_path(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "lunagrad.core");
  lua_getfield(L, -1, "_call_module");
  const lua_CFunction call_module = lua_tocfunction(L, -1);
  lua_pop(L, 3);
  const int top = lua_gettop(L);
  std::vector<std::string> names;  // from the innermost outwards
  std::string type, root;
  lua_Debug frame;
  for (int level = 0; level < kDeepest && lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "f", &frame);
    const bool calls = call_module && lua_tocfunction(L, -1) == call_module;
    lua_pop(L, 1);
    if (!calls || !lua_getlocal(L, &frame, 1) || !lua_istable(L, -1)) continue;
    if (names.empty()) type = text_of(L, "__name", true);
    root = variable_of(L, level + 1);
    if (root.empty()) root = text_of(L, "__name", true);
    names.push_back(text_of(L, "_placed", false));
    lua_settop(L, top);
  }
  lua_settop(L, top);
  if (names.size() < 2) return {};
  for (size_t i = names.size() - 1; i-- > 0;)
    if (!names[i].empty()) root += "." + names[i];
  return "in " + root + " (" + type + "): ";
}

}  // namespace lunagrad
