// Binds the functions of the optional parts that this build has, and what the Lua library asks about parts.
#include <string>

#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/parts/names.h"
#include "script/parts/parts.h"

namespace lunagrad {
namespace {

// _check_built("lg.surgery"): an error if the name belongs to a part that this build leaves out
int check_built(lua_State* L) {
  const std::string_view name = check_string(L, 1, "_check_built");
  if (is_left_out(name)) fail_left_out(name);
  return 0;
}

constexpr luaL_Reg kFunctions[] = {{"_check_built", guard<check_built>}, {nullptr, nullptr}};

}  // namespace

// _part_fields: path in lg -> module, for the parts that were built.
void bind_parts(lua_State* L, int core, int) {
  for (const auto& bind : parts().bindings) bind(L, core);
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kFunctions, 0);
  lua_newtable(L);
  for (const PartField& field : part_fields()) {
    if (!field.built) continue;
    lua_pushstring(L, field.module);
    lua_setfield(L, -2, field.path);
  }
  lua_setfield(L, -2, "_part_fields");
  lua_pop(L, 1);
}

}  // namespace lunagrad
