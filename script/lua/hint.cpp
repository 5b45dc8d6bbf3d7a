#include "script/lua/hint.h"

#include <string_view>

#include "script/lua/edge.h"
#include "script/meta/explain.h"

namespace lunagrad {
namespace {

// The name in scripts of the library's table at the top of the stack: "lg.nn". "" when the value is not such
// a table, or is a class.
std::string library_table(lua_State* L) {
  std::string found;
  if (lua_type(L, -1) != LUA_TTABLE) return found;
  lua_pushliteral(L, "__name");
  const bool is_class = lua_rawget(L, -2) != LUA_TNIL;
  lua_pop(L, 1);
  if (is_class) return found;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING || !lua_rawequal(L, -1, -4)) continue;
    constexpr std::string_view kRoot = "lunagrad";
    const std::string_view name = lua_tostring(L, -2);
    if (name.starts_with(kRoot)) found = "lg" + std::string(name.substr(kRoot.size()));
  }
  lua_pop(L, 1);
  return found;
}

// The library's table that received a call with ':'; "" when there is none. It is the first argument, or in
// the call of a class the first variable argument (-1), because the class itself is the first argument.
std::string called_table(lua_State* L, const lua_Debug& callee) {
  std::string table;
  for (const int argument : {1, -1}) {
    if (!table.empty() || !lua_getlocal(L, &callee, argument)) continue;
    table = library_table(L);
    lua_pop(L, 1);
  }
  return table;
}

// The name of the called class, which is the first argument; "" when that is not a class.
std::string class_name(lua_State* L, const lua_Debug& callee) {
  std::string name;
  if (!lua_getlocal(L, &callee, 1)) return name;
  if (lua_istable(L, -1)) {
    lua_pushliteral(L, "__name");
    if (lua_rawget(L, -2) == LUA_TSTRING) name = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return name;
}

bool lacks_self(lua_State* L, const lua_Debug& callee) {
  const char* const name = lua_getlocal(L, &callee, 1);
  if (!name) return false;
  const bool lacks = std::string_view(name) == "self" && !lua_istable(L, -1) && !lua_isuserdata(L, -1);
  lua_pop(L, 1);
  return lacks;
}

// The text between `before` and the next quote; "" when `before` does not occur.
std::string quoted_behind(const std::string& text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const size_t begin = at + before.size();
  return text.substr(begin, text.find('\'', begin) - begin);
}

}  // namespace

std::string describe_wrong_call(lua_State* L, int user_level) {
  lua_Debug callee;
  if (user_level < 2 || !lua_getstack(L, user_level - 1, &callee)) return {};
  lua_getinfo(L, "Snt", &callee);
  std::string name = callee.name ? callee.name : "";
  // A class makes objects by a tail call, for which Lua has no name.
  if (std::string_view(callee.namewhat) == "method" || callee.istailcall) {
    const std::string table = called_table(L, callee);
    if (name.empty()) name = class_name(L, callee);
    if (!table.empty()) return "what " + table + " holds is called with a dot: " + table + "." + name + "(…)";
  } else if (*callee.what != 'C' && edge(L).chunk(callee).library && lacks_self(L, callee)) {
    return "'" + name + "' is a method: call it with a colon, as in object:" + name + "(…)";
  }
  return {};
}

std::string hint(const std::string& message) {
  constexpr std::string_view kCalled = "attempt to call a nil value (";
  for (const char* kind : {"field", "global", "method"}) {
    const std::string name = quoted_behind(message, std::string(kCalled) + kind + " '");
    if (!name.empty()) return suggest(name, std::string_view(kind) == "method" ? ":" : ".");
  }
  const std::string called = quoted_behind(message, "bad argument #1 to '");
  if (!called.empty() && message.find("(Tensor expected") != std::string::npos &&
      message.ends_with("got no value)"))
    return "; a method is called with a colon, as in x:" + called + "(…)";
  if (message.find("a lunagrad.Live value") != std::string::npos)
    return "; what lg.run.live gives is called for its value, as lr()";
  if (message.ends_with("(global 'self')"))
    return "; a function that uses self is defined and called with a colon";
  return {};
}

}  // namespace lunagrad
