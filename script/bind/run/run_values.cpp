// Binds lg.run.text, image and histogram, and the functions that lg.run.watch (lua/lunagrad/watch.lua) and
// DataLoader call.
#include "runtime/ops.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/session/run_bindings.h"
#include "script/session/session_thread.h"

namespace lunagrad {
namespace {

// Registry key of the function that _at_boundary sets.
constexpr const char* kAtBoundary = "lunagrad.at_boundary";

Run& run_of(lua_State* L) { return SessionThread::of(L).run(); }

std::string check_name(lua_State* L, const char* function) {
  std::string name(check_string(L, 1, function));
  if (name.empty()) bad_argument(L, 1, function, "a name expected, got an empty string");
  return name;
}

int text_(lua_State* L) {
  const std::string name = check_name(L, "text");
  run_of(L).log_text(name, std::string(check_string(L, 2, "text")));
  return 0;
}

// image(name, picture, {normalize = false})
int image(lua_State* L) {
  const std::string name = check_name(L, "image");
  const Tensor picture = check_tensor(L, 2, "image");
  bool normalize = false;
  if (!lua_isnoneornil(L, 3)) {
    if (!lua_istable(L, 3)) wrong_type(L, 3, "image", "table");
    each_option(L, 3, "image", "normalize", [&](std::string_view option, int value, const Callee& callee) {
      if (option != "normalize") return false;
      normalize = check_boolean(L, value, callee);
      return true;
    });
  }
  run_of(L).log_image(name, picture, normalize);
  return 0;
}

// The absolute values of a complex tensor, as viewers show them; any other tensor unchanged.
Tensor real_values(const Tensor& x) {
  const NoGrad off;
  return is_complex(x.dtype()) ? abs(x.detach()) : x;
}

int histogram(lua_State* L) {
  const std::string name = check_name(L, "histogram");
  const Tensor values = check_tensor(L, 2, "histogram");
  if (run_of(L).keeps_values()) run_of(L).log_histogram(name, statistics(real_values(values)));
  return 0;
}

// _measure(name, tensor) -> norm. If name is not nil, also logs a histogram.
int measure(lua_State* L) {
  const Tensor x = real_values(check_tensor(L, 2, "watch"));
  if (lua_isnil(L, 1)) {
    lua_pushnumber(L, norm(x).item());
    return 1;
  }
  const Statistics values = statistics(x);
  run_of(L).log_histogram(std::string(check_string(L, 1, "watch")), values);
  lua_pushnumber(L, values.norm);
  return 1;
}

// _log_watch{part = {name = number}}
int log_watch(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  Run::Findings findings;
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    luaL_checktype(L, -1, LUA_TTABLE);
    auto& numbers = findings[std::string(check_string(L, -2, "watch"))];
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
      numbers[std::string(check_string(L, -2, "watch"))] = check_number(L, lua_gettop(L), "watch");
  }
  run_of(L).log_watch(findings);
  return 0;
}

int keeps_values(lua_State* L) {
  lua_pushboolean(L, run_of(L).keeps_values());
  return 1;
}

int wants_batch(lua_State* L) {
  lua_pushboolean(L, SessionThread::of(L).viewers().batch().wants());
  return 1;
}

// _give_batch(loader, epoch, batch, batches, values…): passes a batch of a data loader to the viewers.
int give_batch(lua_State* L) {
  TensorList columns;
  for (int i = 5; i <= lua_gettop(L); ++i)
    if (const Tensor* column = to_tensor(L, i)) columns.push_back(*column);
  SessionThread::of(L).viewers().batch().give(
      {std::string(check_string(L, 1, "DataLoader")), check_integer(L, 2, "DataLoader"),
       check_integer(L, 3, "DataLoader"), check_integer(L, 4, "DataLoader"), run_of(L).step()},
      std::move(columns));
  return 0;
}

// _at_boundary(f) -> number of completed steps. At the end of each step, f(done) is called with the number of
// completed steps.
int at_boundary(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, kAtBoundary);
  lua_pushinteger(L, lua_Integer(run_of(L).done()));
  return 1;
}

constexpr luaL_Reg kRunValueFunctions[] = {{"text", guard<text_>},
                                           {"image", guard<image>},
                                           {"histogram", guard<histogram>},
                                           {"_measure", guard<measure>},
                                           {"_log_watch", guard<log_watch>},
                                           {"_keeps_values", guard<keeps_values>},
                                           {"_at_boundary", guard<at_boundary>},
                                           {"_wants_batch", guard<wants_batch>},
                                           {"_give_batch", guard<give_batch>},
                                           {nullptr, nullptr}};

}  // namespace

void tell_boundary(lua_State* L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, kAtBoundary) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    return;
  }
  lua_pushinteger(L, lua_Integer(run_of(L).done()));
  lua_call(L, 1, 0);
}

void add_run_values(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "lunagrad.core");
  lua_getfield(L, -1, "run");
  luaL_setfuncs(L, kRunValueFunctions, 0);
  lua_pop(L, 3);
}

}  // namespace lunagrad
