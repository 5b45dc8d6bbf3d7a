#include <algorithm>
#include <string_view>
#include <vector>

#include "script/lua/convert.h"
#include "script/lua/hint.h"
#include "script/meta/explain.h"

namespace lunagrad {
namespace {

constexpr int kMostClasses = 32;  // of a chain of classes; a chain may end in itself

struct Method {
  std::string owner, name;  // "Module", "parameters"
};

// The name of the class at the top of the stack.
std::string name_of_class(lua_State* L) {
  lua_pushliteral(L, "__name");
  std::string name = lua_rawget(L, -2) == LUA_TSTRING ? lua_tostring(L, -1) : "object";
  lua_pop(L, 1);
  return name;
}

// Appends the methods of the object's class and of the classes above it. Each class is the __index of the
// metatable below; where that is a function, or the metatable itself, the metatable is the class.
void collect_methods(lua_State* L, int object, std::vector<Method>& methods) {
  const int top = lua_gettop(L);
  if (!lua_checkstack(L, 3 * kMostClasses) || !lua_getmetatable(L, object)) return;
  for (int i = 0; i < kMostClasses && lua_istable(L, -1); ++i) {
    const int holder = lua_gettop(L);
    const std::string owner = name_of_class(L);
    for (lua_pushnil(L); lua_next(L, holder); lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING || !lua_isfunction(L, -1)) continue;
      const std::string_view name = lua_tostring(L, -2);
      if (!name.starts_with('_')) methods.push_back({owner, std::string(name)});
    }
    lua_pushliteral(L, "__index");
    const int type = lua_rawget(L, holder);
    if (type == LUA_TTABLE && !lua_rawequal(L, -1, holder)) continue;
    if (!lua_getmetatable(L, holder)) break;
  }
  lua_settop(L, top);
}

// Whether the value at the top of the stack is a plain table that begins with a tensor.
bool holds_tensors(lua_State* L) {
  if (!lua_istable(L, -1)) return false;
  if (lua_getmetatable(L, -1)) return lua_pop(L, 1), false;
  lua_rawgeti(L, -1, 1);
  const bool holds = to_tensor(L, -1) != nullptr;
  lua_pop(L, 1);
  return holds;
}

// The nearest method to a misspelt name, as "Module:parameters"; "" when none is near.
std::string nearest_of(const std::string& misspelt, const std::vector<Method>& methods) {
  std::string found;
  size_t least = std::max<size_t>(1, misspelt.size() / 3) + 1;
  for (const Method& method : methods) {
    const size_t distance = edits(misspelt, method.name);
    if (distance >= least) continue;
    least = distance;
    found = method.owner + ":" + method.name;
  }
  return found;
}

}  // namespace

std::string missing_method(lua_State* L, int user_level, const std::string& message) {
  constexpr std::string_view kCalled = "attempt to call a nil value (method '";
  const size_t at = message.find(kCalled);
  lua_Debug caller;
  if (at == std::string::npos || !lua_getstack(L, user_level, &caller)) return {};
  const size_t begin = at + kCalled.size();
  const std::string name = message.substr(begin, message.find('\'', begin) - begin);
  std::vector<Method> methods;
  bool list_of_tensors = false;
  // The object of the call lies among the values of the calling function.
  for (int i = 1; lua_getlocal(L, &caller, i); ++i) {
    list_of_tensors |= holds_tensors(L);
    if (lua_istable(L, -1) && luaL_getmetafield(L, -1, "__name") != LUA_TNIL) {
      lua_pop(L, 1);
      collect_methods(L, lua_gettop(L), methods);
    }
    lua_pop(L, 1);
  }
  if (list_of_tensors && suggest(name, ":").find(" x:" + name + "?") != std::string::npos)
    return "; a table of tensors, as split, chunk and unbind give: local a, b = table.unpack(list)";
  const std::string found = nearest_of(name, methods);
  return found.empty() ? std::string() : "; did you mean " + found + "?";
}

}  // namespace lunagrad
