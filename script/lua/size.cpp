#include "script/lua/size.h"

#include <string>
#include <string_view>

#include "script/lua/convert.h"
#include "script/lua/guard.h"

namespace lunagrad {
namespace {

constexpr const char* kMetatable = "lunagrad.Size";

// Makes the list at the top of the stack a size table.
void make_size(lua_State*);

bool equal_element(lua_State* L, lua_Integer i) {
  lua_rawgeti(L, 1, i);
  lua_rawgeti(L, 2, i);
  const bool equal = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return equal;
}

// __eq; the other operand may be any list.
int equal(lua_State* L) {
  for (const int i : {1, 2}) luaL_checktype(L, i, LUA_TTABLE);
  const auto length = lua_Integer(lua_rawlen(L, 1));
  bool equal = length == lua_Integer(lua_rawlen(L, 2));
  for (lua_Integer i = 1; equal && i <= length; ++i) equal = equal_element(L, i);
  lua_pushboolean(L, equal);
  return 1;
}

std::string written(lua_State* L, int index) {
  std::string text = "[";
  for (lua_Integer i = 1; i <= lua_Integer(lua_rawlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    text += (i > 1 ? ", " : "") + std::string(luaL_tolstring(L, -1, nullptr));
    lua_pop(L, 2);
  }
  return text + "]";
}

int tostring(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  push_string(L, written(L, 1));
  return 1;
}

// __concat with a string.
int concat(lua_State* L) {
  std::string joined;
  for (const int i : {1, 2}) {
    if (lua_type(L, i) == LUA_TTABLE)
      joined += written(L, i);
    else if (lua_isstring(L, i))
      joined += std::string(luaL_tolstring(L, i, nullptr));
    else
      fail("attempt to concatenate a ", type_name(L, i), " value");
  }
  push_string(L, joined);
  return 1;
}

int numel(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  uint64_t product = 1;  // unsigned: a script may change the list, and the product may overflow
  for (lua_Integer i = 1; i <= lua_Integer(lua_rawlen(L, 1)); ++i) {
    lua_rawgeti(L, 1, i);
    product *= uint64_t(lua_tointeger(L, -1));
    lua_pop(L, 1);
  }
  lua_pushinteger(L, lua_Integer(product));
  return 1;
}

// shape[{first, last}], the same form as for a part of a tensor.
int part(lua_State* L, lua_Integer length) {
  lua_Integer ends[2];
  for (const int i : {0, 1}) {
    if (lua_rawgeti(L, 2, i + 1) != LUA_TNUMBER) fail("size: {first, last} expected, as shape[{2, -1}]");
    const lua_Integer given = lua_tointeger(L, -1);
    ends[i] = given < 0 ? given + length + 1 : given;
    lua_pop(L, 1);
  }
  if (ends[0] < 1 || ends[1] > length)
    fail("size: {", ends[0], ", ", ends[1], "} is out of range for ", length,
         " dims; positions count from 1");
  lua_newtable(L);
  for (lua_Integer i = ends[0]; i <= ends[1]; ++i) {
    lua_rawgeti(L, 1, i);
    lua_rawseti(L, -2, i - ends[0] + 1);
  }
  make_size(L);
  return 1;
}

// __index for a key that is not a position from 1 to the length. A position after the end gives nil, which
// ends a loop of ipairs.
int index(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const auto length = lua_Integer(lua_rawlen(L, 1));
  if (lua_istable(L, 2)) return part(L, length);
  if (lua_type(L, 2) == LUA_TSTRING && std::string_view(lua_tostring(L, 2)) == "numel") {
    lua_pushcfunction(L, guard<numel>);
    return 1;
  }
  lua_pushnil(L);
  if (!lua_isinteger(L, 2)) return 1;
  const lua_Integer position = lua_tointeger(L, 2);
  if (position > 0 || (position == 0 && length == 0)) return 1;
  if (position == 0) fail("size: positions count from 1, or from -1 at the end; got 0");
  if (position < -length) fail("size: position ", position, " is out of range for ", length, " dims");
  lua_rawgeti(L, 1, position + length + 1);
  return 1;
}

constexpr luaL_Reg kEvents[] = {{"__eq", guard<equal>},
                                {"__tostring", guard<tostring>},
                                {"__concat", guard<concat>},
                                {"__index", guard<index>},
                                {nullptr, nullptr}};

void make_size(lua_State* L) {
  if (luaL_newmetatable(L, kMetatable)) {
    luaL_setfuncs(L, kEvents, 0);
    lua_pushnil(L);
    lua_setfield(L, -2, "__name");  // Lua's messages call it a table
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");  // getmetatable() gives it: scripts see a plain list
  }
  lua_setmetatable(L, -2);
}

}  // namespace

bool is_dims(lua_State* L, int index) {
  if (!lua_istable(L, index) || !lua_getmetatable(L, index)) return false;
  luaL_getmetatable(L, kMetatable);
  const bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

void push_dims(lua_State* L, const Dims& dims) {
  lua_createtable(L, dims.size(), 0);
  for (int i = 0; i < dims.size(); ++i) {
    lua_pushinteger(L, dims[i]);
    lua_rawseti(L, -2, i + 1);
  }
  make_size(L);
}

}  // namespace lunagrad
