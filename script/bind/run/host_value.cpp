#include "script/bind/run/host_value.h"

#include <utility>

#include "runtime/core/error.h"
#include "script/lua/convert.h"

namespace lunagrad {
namespace {

SessionValue read_session_value(lua_State* L, int index, const std::string& what, size_t depth);

SessionValue read_session_table(lua_State* L, int index, const std::string& what, size_t depth) {
  if (depth == kMostNestedTables)
    fail(what, ": tables are nested more than ", kMostNestedTables, " deep, or a table contains itself");
  if (lua_getmetatable(L, index))
    fail(what, " is a table with a metatable, which the program around this script cannot take");
  luaL_checkstack(L, 8, "nested tables");
  auto made = std::make_shared<SessionTable>();
  const auto length = lua_Integer(lua_rawlen(L, index));
  for (lua_Integer i = 1; i <= length; ++i) {
    const std::string name = text(what, "[", i, "]");
    if (lua_rawgeti(L, index, i) == LUA_TNIL) fail(name, " is nil, inside of a list");
    made->items.push_back(read_session_value(L, lua_gettop(L), name, depth + 1));
    lua_pop(L, 1);
  }
  lua_pushnil(L);
  while (lua_next(L, index)) {
    if (lua_type(L, -2) == LUA_TSTRING) {
      size_t size = 0;
      const char* const bytes = lua_tolstring(L, -2, &size);
      std::string key(bytes, size);
      SessionValue field = read_session_value(L, lua_gettop(L), what + "." + key, depth + 1);
      made->fields.emplace(std::move(key), std::move(field));
    } else if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) < 1 || lua_tointeger(L, -2) > length) {
      const std::string key = luaL_tolstring(L, -2, nullptr);
      fail(what, " has the key ", key, ", which is no text and no position of a list");
    }
    lua_pop(L, 1);
  }
  return {std::shared_ptr<const SessionTable>(std::move(made))};
}

SessionValue read_session_value(lua_State* L, int index, const std::string& what, size_t depth) {
  switch (lua_type(L, index)) {
    case LUA_TNONE:
    case LUA_TNIL:
      return {};
    case LUA_TBOOLEAN:
      return {lua_toboolean(L, index) != 0};
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) return {int64_t(lua_tointeger(L, index))};
      return {double(lua_tonumber(L, index))};
    case LUA_TSTRING: {
      size_t size = 0;
      const char* const bytes = lua_tolstring(L, index, &size);
      return {std::string(bytes, size)};
    }
    case LUA_TTABLE:
      return read_session_table(L, index, what, depth);
    default:
      if (const Tensor* const x = to_tensor(L, index)) return {*x};
      fail(what, " is a ", luaL_typename(L, index),
           ", and the program around this script takes tensors, texts, numbers, booleans and tables of them");
  }
}

}  // namespace

SessionValue check_session_value(lua_State* L, int index, const std::string& what) {
  return read_session_value(L, lua_absindex(L, index), what, 0);
}

void push_session_value(lua_State* L, const SessionValue& value) {
  luaL_checkstack(L, 8, "nested tables");
  if (const bool* const b = std::get_if<bool>(&value.is)) {
    lua_pushboolean(L, *b);
  } else if (const int64_t* const i = std::get_if<int64_t>(&value.is)) {
    lua_pushinteger(L, lua_Integer(*i));
  } else if (const double* const f = std::get_if<double>(&value.is)) {
    lua_pushnumber(L, *f);
  } else if (const std::string* const bytes = std::get_if<std::string>(&value.is)) {
    lua_pushlstring(L, bytes->data(), bytes->size());
  } else if (const Tensor* const x = std::get_if<Tensor>(&value.is)) {
    push_tensor(L, *x);
  } else if (const TensorCopy* const copy = std::get_if<TensorCopy>(&value.is)) {
    push_tensor(L, copy->tensor());
  } else if (const auto* const table = std::get_if<std::shared_ptr<const SessionTable>>(&value.is)) {
    const SessionTable& held = **table;
    lua_createtable(L, int(held.items.size()), int(held.fields.size()));
    lua_Integer position = 0;
    for (const SessionValue& item : held.items) {
      push_session_value(L, item);
      lua_rawseti(L, -2, ++position);
    }
    for (const auto& [name, field] : held.fields) {
      lua_pushlstring(L, name.data(), name.size());
      push_session_value(L, field);
      lua_rawset(L, -3);
    }
  } else {
    lua_pushnil(L);
  }
}

}  // namespace lunagrad
