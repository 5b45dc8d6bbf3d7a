#include "script/lua/module_ids.h"

namespace lunagrad {
namespace {

constexpr char kIds = 0;  // its address is the table's key in the registry

}  // namespace

void set_module_ids(lua_State* L) { lua_rawsetp(L, LUA_REGISTRYINDEX, &kIds); }

uint32_t module_id(lua_State* L, int index) {
  if (!lua_istable(L, index)) return 0;
  index = lua_absindex(L, index);
  const int top = lua_gettop(L);
  uint32_t id = 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kIds) == LUA_TTABLE) {
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    id = uint32_t(lua_tointeger(L, -1));
  }
  lua_settop(L, top);
  return id;
}

}  // namespace lunagrad
