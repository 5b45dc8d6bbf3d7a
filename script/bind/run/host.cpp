// Binds lg.host: the values, functions and ops of the program around the session.
#include "script/bind/run/host_value.h"
#include "script/bind/tensor/ops.h"
#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"
#include "script/session/globals.h"
#include "script/session/run_bindings.h"
#include "script/session/session_thread.h"

namespace lunagrad {
namespace {

HostValues& host(lua_State* L) { return SessionThread::of(L).host(); }

// The arguments are tensors and numbers, the results tensors.
int call_with_tensors(lua_State* L, const char* name, const HostFunction& function) {
  TensorList arguments;
  for (int i = 1; i <= lua_gettop(L); ++i) arguments.push_back(check_operand(L, i, name));
  TensorList results = SessionThread::of(L).calls().call("host.", name, [&] { return function(arguments); });
  for (const Tensor& result : results)
    if (!result.defined()) fail("host.", name, ": the program's function returned an undefined tensor");
  luaL_checkstack(L, int(results.size()) + 4, "too many results");
  for (Tensor& result : results) push_result(L, std::move(result));
  return int(results.size());
}

int call_with_values(lua_State* L, const char* name, const HostValueFunction& function) {
  std::vector<SessionValue> arguments;
  for (int i = 1; i <= lua_gettop(L); ++i)
    arguments.push_back(check_session_value(L, i, text("host.", name, ": argument ", i)));
  const std::vector<SessionValue> results =
      SessionThread::of(L).calls().call("host.", name, [&] { return function(arguments); });
  luaL_checkstack(L, int(results.size()) + 4, "too many results");
  for (const SessionValue& result : results) {
    const Tensor* const x = std::get_if<Tensor>(&result.is);
    if (x)
      push_result(L, *x);
    else
      push_session_value(L, result);
  }
  return int(results.size());
}

// Upvalue 1: the name.
int call_function(lua_State* L) {
  const char* const name = lua_tostring(L, lua_upvalueindex(1));
  const HostFunctionPtr function = host(L).function(name);
  if (!function) fail("host.", name, ": the program has no such function");
  mark_line(L);
  const auto* const tensors = std::get_if<HostFunction>(function.get());
  const int count = tensors ? call_with_tensors(L, name, *tensors)
                            : call_with_values(L, name, std::get<HostValueFunction>(*function));
  after_op(L);
  return count;
}

// lg.host.name
int get_field(lua_State* L) {
  const std::string name(check_string(L, 2, "host"));
  HostValues& values = host(L);
  if (const SessionValue* const value = values.find(name)) {
    push_session_value(L, *value);
    return 1;
  }
  if (const Signature* const op = values.op(name)) {
    push_op_function(L, *op);
    return 1;
  }
  if (values.function(name)) {
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, guard<call_function>, 1);
    return 1;
  }
  const std::string known = values.names();
  fail("lg.host.", name, " does not exist: the program around this script ",
       known.empty() ? std::string("offers nothing") : "offers " + known);
}

// lg.host.name = value; nil removes the name
int set_field(lua_State* L) {
  const std::string name(check_string(L, 2, "host"));
  HostValues& values = host(L);
  if (values.function(name) || values.op(name)) fail("lg.host.", name, " is a function of the program");
  values.put(name, detached(check_session_value(L, 3, "lg.host." + name)));
  return 0;
}

}  // namespace

void open_host(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "lunagrad.core");
  lua_newtable(L);
  lua_newtable(L);
  lua_pushcfunction(L, guard<get_field>);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, guard<set_field>);
  lua_setfield(L, -2, "__newindex");
  lua_pushliteral(L, "the values of the host");
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "host");
  lua_pop(L, 2);
}

}  // namespace lunagrad
