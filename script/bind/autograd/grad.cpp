// Bindings of gradients: x:backward, x:gradients (GradStore), lg.grad, hooks, grad mode, gradient checks.
#include <memory>

#include "runtime/tape/grad_store.h"
#include "runtime/tape/gradcheck.h"
#include "runtime/tape/tape.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/function.h"
#include "script/lua/garbage.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"
#include "script/lua/user_type.h"

namespace lunagrad {
namespace {

// --- backward ---

// The arguments of x:backward and x:gradients: (), (seed), (seed, options) or (options).
struct BackwardArguments {
  Tensor root, seed;
  BackwardOptions options;
};
BackwardArguments read_backward(lua_State* L, const char* name) {
  BackwardArguments read;
  read.root = check_tensor(L, 1, name);
  const int options_at = lua_istable(L, 2) ? 2 : 3;
  if (options_at == 3 && !lua_isnoneornil(L, 2)) read.seed = check_tensor(L, 2, name);
  if (!lua_isnoneornil(L, options_at)) {
    if (!lua_istable(L, options_at)) wrong_type(L, options_at, name, "options table");
    each_option(L, options_at, name, "retain_graph, create_graph, gradient",
                [&](std::string_view option, int value, Callee callee) {
                  if (option == "retain_graph")
                    read.options.retain_graph = check_boolean(L, value, callee);
                  else if (option == "create_graph")
                    read.options.create_graph = check_boolean(L, value, callee);
                  else if (option == "gradient")
                    read.seed = check_tensor(L, value, callee);
                  else
                    return false;
                  return true;
                });
  }
  return read;
}

int backward_from(lua_State* L) {
  const BackwardArguments read = read_backward(L, "backward");
  if (!waiting_queue) collect_dropped(L, binding_state(L));
  mark_line(L);
  backward(read.root, read.seed, read.options);
  add_pressure(L, 0);
  after_op(L);
  return 0;
}

// --- gradients as a value ---

constexpr UserType<GradStore> kStore("lunagrad.GradStore", "GradStore");

void push_store(lua_State* L, GradStore store) {
  kStore.push(L, std::make_shared<GradStore>(std::move(store)));
}

// x:gradients(…) -> GradStore with the gradients of every recorded tensor. Does not change .grad.
int gradients_of(lua_State* L) {
  const BackwardArguments read = read_backward(L, "gradients");
  mark_line(L);
  push_store(L, gradients(read.root, read.seed, read.options));
  add_pressure(L, 0);
  after_op(L);
  return 1;
}

// g:get(x) -> gradient, or nil if no gradient reached x
int store_get(lua_State* L) {
  push_result(L, kStore.check(L, 1, "get")->get(check_tensor(L, 2, "get")));
  return 1;
}

// g:accumulate(x, gradient) and g:merge(other) add to g and return g.
int store_accumulate(lua_State* L) {
  const std::shared_ptr<GradStore> store = kStore.check(L, 1, "accumulate");
  mark_line(L);
  store->accumulate(check_tensor(L, 2, "accumulate"), check_tensor(L, 3, "accumulate"));
  lua_settop(L, 1);
  return 1;
}
int store_merge(lua_State* L) {
  const std::shared_ptr<GradStore> store = kStore.check(L, 1, "merge");
  mark_line(L);
  store->merge(*kStore.check(L, 2, "merge"));
  lua_settop(L, 1);
  return 1;
}

// g:replace(x, gradient) -> g
int store_replace(lua_State* L) {
  kStore.check(L, 1, "replace")->replace(check_tensor(L, 2, "replace"), check_tensor(L, 3, "replace"));
  lua_settop(L, 1);
  return 1;
}
// g:remove(x) -> the gradient, which is no longer in g, or nil
int store_remove(lua_State* L) {
  push_result(L, kStore.check(L, 1, "remove")->remove(check_tensor(L, 2, "remove")));
  return 1;
}
// g:clone() -> a store with copies of the gradients
int store_clone(lua_State* L) {
  const std::shared_ptr<GradStore> store = kStore.check(L, 1, "clone");
  mark_line(L);
  push_store(L, store->clone());
  add_pressure(L, 0);
  after_op(L);
  return 1;
}
// lg.GradStore.new() -> an empty store
int store_new(lua_State* L) {
  push_store(L, GradStore());
  return 1;
}

// for node, gradient, output in pairs(g): the id of the node (as in lg.tape), the gradient, and which of the
// node's results it belongs to. Gradients may be removed during the loop. Upvalue: the last key returned.
int store_next(lua_State* L) {
  const std::shared_ptr<GradStore> store = kStore.check(L, 1, "pairs");
  auto* const last = static_cast<GradStore::Key*>(lua_touserdata(L, lua_upvalueindex(1)));
  const auto* const found = store->after(*last);
  if (!found) return 0;
  *last = found->first;
  lua_pushinteger(L, lua_Integer(found->first.first));
  push_result(L, found->second);
  lua_pushinteger(L, lua_Integer(found->first.second) + 1);
  return 3;
}
int store_pairs(lua_State* L) {
  kStore.check(L, 1, "pairs");
  new (lua_newuserdatauv(L, sizeof(GradStore::Key), 0)) GradStore::Key(0, 0);
  lua_pushcclosure(L, guard<store_next>, 1);
  lua_pushvalue(L, 1);
  return 2;
}

// g[x], g.get, …
int store_index(lua_State* L) {
  kStore.check(L, 1, "index");
  if (to_tensor(L, 2)) return store_get(L);
  const bool has_methods = luaL_getmetafield(L, 1, "methods") == LUA_TTABLE;
  lua_pushvalue(L, 2);
  if (!has_methods || lua_rawget(L, -2) == LUA_TNIL)
    fail("GradStore: it is indexed with a tensor, g[x]; got a ", type_name(L, 2));
  return 1;
}

int store_length(lua_State* L) {
  lua_pushinteger(L, lua_Integer(kStore.check(L, 1, "#")->size()));
  return 1;
}

int store_text(lua_State* L) {
  push_string(L, text("GradStore(gradients of ", kStore.check(L, 1, "tostring")->size(), " tensors)"));
  return 1;
}

constexpr luaL_Reg kStoreEvents[] = {{"__index", guard<store_index>},
                                     {"__len", guard<store_length>},
                                     {"__pairs", guard<store_pairs>},
                                     {"__tostring", guard<store_text>},
                                     {nullptr, nullptr}};
constexpr luaL_Reg kStoreMethods[] = {{"get", guard<store_get>},
                                      {"accumulate", guard<store_accumulate>},
                                      {"merge", guard<store_merge>},
                                      {"remove", guard<store_remove>},
                                      {"replace", guard<store_replace>},
                                      {"clone", guard<store_clone>},
                                      {nullptr, nullptr}};

// lg.grad{outputs = y, inputs = x, …}: puts outputs and inputs in their places before the options.
void place_by_name(lua_State* L) {
  if (!is_options(L, 2) || !lua_isnoneornil(L, 3)) return;
  lua_settop(L, 2);
  lua_getfield(L, 2, "inputs");
  lua_pushvalue(L, 2);
  lua_getfield(L, 2, "outputs");
  lua_replace(L, 2);
}

// lg.grad(outputs, inputs, options), called through __call: the table itself is argument 1.
int gradients(lua_State* L) {
  place_by_name(L);
  const TensorList outputs = check_tensors(L, 2, "grad"), inputs = check_tensors(L, 3, "grad");
  TensorList seeds;
  GradOptions options;
  if (!lua_isnoneornil(L, 4)) {
    if (!lua_istable(L, 4)) wrong_type(L, 4, "grad", "options table");
    each_option(
        L, 4, "grad", "grad_outputs, retain_graph, create_graph, allow_unused",
        [&](std::string_view name, int value, Callee callee) {
          if (name == "outputs" || name == "inputs")
            return lua_rawequal(L, value, name == "inputs" ? 3 : 2) == 1;
          if (name == "only_inputs") {
            if (check_boolean(L, value, callee)) return true;
            fail(
                "grad: the gradients of other leaves are made by y:backward(), not with only_inputs = false");
          }
          if (name == "grad_outputs")
            seeds = check_tensors(L, value, callee);
          else if (name == "retain_graph")
            options.retain_graph = check_boolean(L, value, callee);
          else if (name == "create_graph")
            options.create_graph = check_boolean(L, value, callee);
          else if (name == "allow_unused")
            options.allow_unused = check_boolean(L, value, callee);
          else
            return false;
          return true;
        });
  }
  mark_line(L);
  TensorList results = grad(outputs, inputs, seeds, options);
  if (to_tensor(L, 3)) {
    push_result(L, std::move(results[0]));
  } else {
    lua_createtable(L, int(results.size()), 0);
    for (size_t i = 0; i < results.size(); ++i) {
      push_result(L, std::move(results[i]));
      lua_rawseti(L, -2, lua_Integer(i) + 1);
    }
  }
  after_op(L);
  return 1;
}

// --- leaves and hooks ---

int requires_grad(lua_State* L) {
  Tensor x = check_tensor(L, 1, "requires_grad_");
  mark_line(L);
  x.requires_grad_(lua_isnoneornil(L, 2) || check_boolean(L, 2, "requires_grad_"));
  lua_settop(L, 1);
  return 1;
}

int detach(lua_State* L) {
  push_result(L, check_tensor(L, 1, "detach").detach());
  return 1;
}

// x:detach_() -> x, which becomes a leaf
int detach_in_place(lua_State* L) {
  const Tensor x = check_tensor(L, 1, "detach_");
  if (x.body()->base) fail("detach_: a view cannot be detached in place; use detach()");
  x.body()->node = nullptr;
  x.body()->output = 0;
  ++x.body()->generation;  // its views must derive their node again
  lua_settop(L, 1);
  return 1;
}

int retain_gradient(lua_State* L) {
  retain_grad(check_tensor(L, 1, "retain_grad"));
  return 0;
}

constexpr const char* kHandleType = "lunagrad.Hook";

int hook_remove(lua_State* L) {
  check_table(L, 1, "remove");
  lua_settop(L, 1);
  lua_getfield(L, 1, "tensor");
  lua_getfield(L, 1, "id");
  remove_hook(check_tensor(L, 2, "remove"), uint64_t(check_integer(L, 3, "remove")));
  return 0;
}

// x:register_hook(fn) -> handle. fn(gradient) may return a replacement; handle:remove() removes the hook.
int add_hook(lua_State* L) {
  const Tensor x = check_tensor(L, 1, "register_hook");
  check_callable(L, 2, "register_hook");
  const auto function = std::make_shared<LuaFunction>(L, 2, "the hook");
  const uint64_t hook = register_hook(x, [function](const Tensor& gradient) {
    const TensorList results = function->call({gradient}, "hook");
    return results.empty() ? Tensor() : results[0];
  });
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "tensor");
  lua_pushinteger(L, lua_Integer(hook));
  lua_setfield(L, -2, "id");
  luaL_setmetatable(L, kHandleType);
  return 1;
}

// --- grad mode ---

constexpr const char* kModeType = "lunagrad.GradMode";

// __close: restores the previous grad mode. A second call does nothing.
int end_mode(lua_State* L) {
  lua_getfield(L, 1, "previous");
  if (!lua_isnil(L, -1)) context().grad_enabled = lua_toboolean(L, -1);
  lua_pushnil(L);
  lua_setfield(L, 1, "previous");
  return 0;
}

// Turns the tape on or off, calls the function at stack index `at` with the arguments after it, and returns
// its results. Without a function, the mode lasts until the returned value is closed.
int run_in_mode(lua_State* L, bool enabled, const char* name, int at) {
  if (lua_isnoneornil(L, at)) {
    lua_createtable(L, 0, 1);
    lua_pushboolean(L, context().grad_enabled);
    lua_setfield(L, -2, "previous");
    luaL_setmetatable(L, kModeType);
    context().grad_enabled = enabled;
    return 1;
  }
  check_callable(L, at, name);
  const GradMode mode(enabled);
  lua_call(L, lua_gettop(L) - at, LUA_MULTRET);
  return lua_gettop(L) - at + 1;
}

// no_grad(fn, …), no_grad(); enable_grad does the same with the tape on.
template <bool enabled>
int with_mode(lua_State* L) {
  return run_in_mode(L, enabled, enabled ? "enable" : "no_grad", 1);
}

// set_grad_enabled(mode, fn, …) is enable_grad or no_grad.
int set_mode(lua_State* L) {
  constexpr const char* kName = "set_grad_enabled";
  return run_in_mode(L, check_boolean(L, 1, kName), kName, 2);
}

int is_enabled(lua_State* L) {
  lua_pushboolean(L, context().grad_enabled);
  return 1;
}

// --- checks ---

// lg.grad.check(fn, inputs, {eps =, tolerance =}) -> true, or false and a message; checkgrad2 checks the
// second derivatives.
template <bool second_order>
int check_gradients(lua_State* L) {
  const char* const name = second_order ? "checkgrad2" : "check";
  check_callable(L, 1, name);
  const TensorList inputs = check_tensors(L, 2, name);
  GradCheckOptions options;
  if (second_order) options.tolerance = 1e-4;
  if (!lua_isnoneornil(L, 3)) {
    if (!lua_istable(L, 3)) wrong_type(L, 3, name, "options table");
    each_option(L, 3, name, "eps, tolerance", [&](std::string_view option, int value, Callee callee) {
      if (option == "eps")
        options.step = check_number(L, value, callee);
      else if (option == "tolerance")
        options.tolerance = check_number(L, value, callee);
      else
        return false;
      return true;
    });
  }
  mark_line(L);
  const LuaFunction function(L, 1);
  const TensorFunction f = [&](const TensorList& arguments) { return function.call(arguments, name); };
  const GradCheckResult result =
      second_order ? gradgradcheck(f, inputs, options) : gradcheck(f, inputs, options);
  lua_pushboolean(L, result.ok);
  if (result.ok) return 1;
  push_string(L, result.message);
  return 2;
}

// --- errors of the Lua library ---

// _fail(message, kind): raises an Error at the script line that called the library; kind is "file" or nil.
int fail_at_user(lua_State* L) {
  const std::string message(check_string(L, 1, "_fail"));
  if (lua_isnoneornil(L, 2)) throw Error(message);
  fail_as(ErrorKind::file, message);
}

constexpr luaL_Reg kMethods[] = {
    {"backward", guard<backward_from>},       {"gradients", guard<gradients_of>},
    {"requires_grad_", guard<requires_grad>}, {"detach", guard<detach>},
    {"detach_", guard<detach_in_place>},      {"retain_grad", guard<retain_gradient>},
    {"register_hook", guard<add_hook>},       {nullptr, nullptr}};
constexpr luaL_Reg kGradFunctions[] = {
    {"no_grad", guard<with_mode<false>>},  {"enable_grad", guard<with_mode<true>>},
    {"set_grad_enabled", guard<set_mode>}, {"is_grad_enabled", guard<is_enabled>},
    {"_fail", guard<fail_at_user>},        {nullptr, nullptr}};
constexpr luaL_Reg kGradTable[] = {{"no_grad", guard<with_mode<false>>},
                                   {"enable", guard<with_mode<true>>},
                                   {"is_enabled", guard<is_enabled>},
                                   {"check", guard<check_gradients<false>>},
                                   {"checkgrad2", guard<check_gradients<true>>},
                                   {nullptr, nullptr}};

// Makes a metatable with one entry `name`: a method if `method`, otherwise a metamethod.
void make_type(lua_State* L, const char* type, const char* name, lua_CFunction function, bool method) {
  luaL_newmetatable(L, type);
  if (method) lua_newtable(L);
  lua_pushcfunction(L, function);
  lua_setfield(L, -2, name);
  if (method) lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

}  // namespace

void bind_grad(lua_State* L, int core, int methods) {
  lua_pushvalue(L, methods);
  luaL_setfuncs(L, kMethods, 0);
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kGradFunctions, 0);
  lua_pop(L, 2);
  make_type(L, kHandleType, "remove", guard<hook_remove>, true);
  make_type(L, kModeType, "__close", guard<end_mode>, false);
  kStore.define(L);
  luaL_setfuncs(L, kStoreEvents, 0);
  luaL_newlib(L, kStoreMethods);
  lua_setfield(L, -2, "methods");
  lua_pop(L, 1);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, guard<store_new>);
  lua_setfield(L, -2, "new");
  lua_setfield(L, core, "GradStore");

  luaL_newlib(L, kGradTable);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, guard<gradients>);
  lua_setfield(L, -2, "__call");
  lua_setmetatable(L, -2);
  lua_setfield(L, core, "grad");
}

}  // namespace lunagrad
