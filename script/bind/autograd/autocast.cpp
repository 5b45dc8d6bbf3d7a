// Bindings of mixed precision (lg.autocast) and of the detection of NaN and Inf (lg.set_detect_anomaly).
#include "runtime/tape/autocast.h"

#include "runtime/core/dtype_names.h"
#include "runtime/tape/finite.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"
#include "script/lua/user_type.h"

namespace lunagrad {
namespace {

// The userdata that autocast(dtype) returns. It holds the region to restore when the value is closed.
struct OpenRegion {
  std::shared_ptr<Autocast> previous;
  bool open = true;
};

constexpr UserType<OpenRegion> kRegion("lunagrad.Autocast", "region of autocast");

int close_region(lua_State* L) {
  const std::shared_ptr<OpenRegion> region = kRegion.check(L, 1, "close");
  if (region->open) context().autocast = std::move(region->previous);
  region->open = false;
  return 0;
}

// autocast(dtype, fn, …) calls fn(…) in an autocast region of that dtype and returns its results. The dtype
// `false` switches autocast off. autocast(dtype) begins a region, which lasts until the returned value is
// closed.
int autocast(lua_State* L) {
  std::shared_ptr<Autocast> region;
  const bool named = lua_istable(L, 1) || is_options(L, 2) ||
                     (lua_type(L, 1) == LUA_TSTRING && !dtype_from_name(lua_tostring(L, 1)));
  if (named)
    fail(
        "autocast: the dtype comes first: lg.autocast(\"bf16\", function() … end); the device follows "
        "from the tensors");
  if (!lua_isboolean(L, 1) || lua_toboolean(L, 1)) region = make_autocast(check_dtype(L, 1, "autocast"));
  if (lua_isnoneornil(L, 2)) {
    const auto open = std::make_shared<OpenRegion>();
    kRegion.push(L, open);
    open->previous = std::exchange(context().autocast, std::move(region));
    return 1;
  }
  check_callable(L, 2, "autocast");
  const UseAutocast use(std::move(region));
  lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
  return lua_gettop(L) - 1;
}

int is_autocast_enabled(lua_State* L) {
  lua_pushboolean(L, bool(context().autocast));
  return 1;
}

// get_autocast_dtype() -> the dtype of the current region, nil outside a region
int autocast_type(lua_State* L) {
  if (const auto& region = context().autocast)
    lua_pushstring(L, dtype_name(region->type()));
  else
    lua_pushnil(L);
  return 1;
}

// _unscale(gradients, factor) -> whether all gradients are finite. Multiplies them by factor in place.
int unscale(lua_State* L) {
  mark_line(L);
  lua_pushboolean(L, unscale_gradients(check_tensors(L, 1, "unscale_"), check_number(L, 2, "unscale_")));
  after_op(L);
  return 1;
}

// lg.set_detect_anomaly("off" | "step" | "op" | boolean)
int set_detect_anomaly(lua_State* L) {
  context().guard = check_guard(L, 1, "set_detect_anomaly");
  return 0;
}

constexpr luaL_Reg kAutocastFunctions[] = {{"autocast", guard<autocast>},
                                           {"is_autocast_enabled", guard<is_autocast_enabled>},
                                           {"get_autocast_dtype", guard<autocast_type>},
                                           {"set_detect_anomaly", guard<set_detect_anomaly>},
                                           {"_unscale", guard<unscale>},
                                           {nullptr, nullptr}};

}  // namespace

void bind_autocast(lua_State* L, int core, int) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kAutocastFunctions, 0);
  lua_pop(L, 1);
  kRegion.define(L);
  lua_pushcfunction(L, guard<close_region>);
  lua_setfield(L, -2, "__close");
  lua_pop(L, 1);
}

}  // namespace lunagrad
