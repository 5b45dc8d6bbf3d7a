// Binds custom ops (lg.custom_op) and activation checkpointing (lg.checkpoint): Lua functions that backward
// calls.
#include "runtime/tape/custom.h"

#include <algorithm>

#include "runtime/batching/batched.h"
#include "runtime/tape/checkpoint.h"
#include "runtime/tape/node.h"
#include "runtime/tape/unsharded.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/function.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

// --- custom ops ---

constexpr const char* kContextType = "lunagrad.CustomContext";
// The user values of a context: the fields that the script set, and the saved tensors, while forward or
// backward runs.
constexpr int kFields = 1, kSaved = 2;

// ctx:save(…): saves tensors for backward. An argument may be nil.
int context_save(lua_State* L) {
  luaL_checkudata(L, 1, kContextType);
  if (lua_getiuservalue(L, 1, kSaved) != LUA_TTABLE) fail("ctx:save: only a forward function saves");
  const int list = lua_gettop(L), last = list - 1;
  auto count = lua_Integer(lua_rawlen(L, list));
  for (int i = 2; i <= last; ++i) {
    if (!lua_isnil(L, i)) check_tensor(L, i, "save");
    lua_isnil(L, i) ? lua_pushboolean(L, false) : lua_pushvalue(L, i);
    lua_rawseti(L, list, ++count);
  }
  return 0;
}

// local x, y = ctx:saved()
int context_saved(lua_State* L) {
  luaL_checkudata(L, 1, kContextType);
  if (lua_getiuservalue(L, 1, kSaved) != LUA_TTABLE)
    fail("ctx:saved: the values are there in forward and backward alone");
  const int list = lua_gettop(L), count = int(lua_rawlen(L, list));
  luaL_checkstack(L, count, "saved");
  for (int i = 1; i <= count; ++i)
    if (lua_rawgeti(L, list, i) == LUA_TBOOLEAN) lua_pushnil(L), lua_replace(L, -2);
  return count;
}

// ctx.name: a method, a value that the script stored, or ctx.saved_tensors, a list of the results of
// ctx:saved().
int context_index(lua_State* L) {
  luaL_checkudata(L, 1, kContextType);
  if (lua_type(L, 2) == LUA_TSTRING && std::string_view(lua_tostring(L, 2)) == "saved_tensors") {
    lua_settop(L, 1);
    const int count = context_saved(L), first = lua_gettop(L) - count + 1;
    lua_createtable(L, count, 0);
    lua_insert(L, first);
    for (int i = count; i >= 1; --i) lua_rawseti(L, first, i);
    return 1;
  }
  if (luaL_getmetafield(L, 1, "methods") == LUA_TTABLE) {
    lua_pushvalue(L, 2);
    if (lua_rawget(L, -2) != LUA_TNIL) return 1;
  }
  lua_getiuservalue(L, 1, kFields);
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  return 1;
}
int context_assign(lua_State* L) {
  luaL_checkudata(L, 1, kContextType);
  luaL_checkany(L, 3);
  lua_getiuservalue(L, 1, kFields);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_rawset(L, -3);
  return 0;
}

constexpr luaL_Reg kContextEvents[] = {
    {"__index", guard<context_index>}, {"__newindex", guard<context_assign>}, {nullptr, nullptr}};
constexpr luaL_Reg kContextMethods[] = {{"save", guard<context_save>},
                                        {"save_for_backward", guard<context_save>},
                                        {"saved", guard<context_saved>},
                                        {nullptr, nullptr}};

// Sets the list of saved tensors of the context at the top of the stack. false stands for nil.
void set_saved(lua_State* L, const TensorList& saved) {
  lua_createtable(L, int(saved.size()), 0);
  for (size_t i = 0; i < saved.size(); ++i) {
    saved[i].defined() ? push_tensor(L, saved[i]) : lua_pushboolean(L, false);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  lua_setiuservalue(L, -2, kSaved);
}

// Removes the list of saved tensors from the context at the top of the stack and returns it. The node holds
// the context, so a saved output left in the context would make a reference cycle.
TensorList take_saved(lua_State* L) {
  TensorList saved;
  if (lua_getiuservalue(L, -1, kSaved) != LUA_TTABLE) return lua_pop(L, 1), saved;
  for (lua_Integer i = 1; i <= lua_Integer(lua_rawlen(L, -1)); ++i) {
    lua_rawgeti(L, -1, i);
    const Tensor* const x = to_tensor(L, -1);
    saved.push_back(x ? *x : Tensor());
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  lua_pushnil(L);
  lua_setiuservalue(L, -2, kSaved);
  return saved;
}

// The arguments of one call of a custom op.
struct Given {
  TensorList tensors;
  std::vector<int> input;  // for each argument: its index in `tensors`, -1 if it is not a tensor
};

// Reads the results of a backward function, from stack index 1 on: a gradient or nil for each argument.
// Returns a gradient for each tensor, undefined for nil.
TensorList read_gradients(lua_State* L, const Given& arguments) {
  const int given = lua_gettop(L), wanted = int(arguments.input.size());
  int last = 0;  // the last argument that may have a gradient
  for (int i = 0; i < wanted; ++i)
    if (arguments.input[size_t(i)] >= 0) last = i + 1;
  if (given > wanted || given < last)
    fail("it returned ", given, given == 1 ? " gradient" : " gradients", " for ", wanted,
         wanted == 1 ? " argument" : " arguments", "; it must return one for each, nil for none");
  TensorList gradients(arguments.tensors.size());
  for (int i = 1; i <= given; ++i) {
    if (lua_isnil(L, i)) continue;
    const Tensor* const gradient = to_tensor(L, i);
    const int input = arguments.input[size_t(i) - 1];
    if (!gradient) fail("its gradient of argument ", i, " is a ", type_name(L, i), ", not a tensor");
    if (input < 0) fail("it returned a gradient of argument ", i, ", which is no tensor");
    gradients[size_t(input)] = *gradient;
  }
  return gradients;
}

// Runs the backward function. The context holds the saved values only during the call.
TensorList run_backward(const LuaFunction& function, const LuaFunction& shared, const Given& arguments,
                        const TensorList& saved, const TensorList& grads) {
  TensorList gradients;
  const auto clear = [&] {
    shared.protect("", [&](lua_State* L) {
      shared.push(L);
      take_saved(L);
    });
  };
  try {
    function.protect("", [&](lua_State* L) {
      luaL_checkstack(L, int(grads.size()) + 8, "too many outputs");
      function.push(L);
      shared.push(L);
      set_saved(L, saved);
      for (const Tensor& grad : grads) push_tensor(L, grad);
      lua_call(L, int(grads.size()) + 1, LUA_MULTRET);
      gradients = read_gradients(L, arguments);
    });
  } catch (...) {
    clear();
    throw;
  }
  clear();
  return gradients;
}

// Pushes a new context.
void push_context(lua_State* L, const Given& arguments) {
  lua_newuserdatauv(L, 0, 2);
  lua_newtable(L);
  lua_createtable(L, int(arguments.input.size()), 0);
  for (size_t i = 0; i < arguments.input.size(); ++i) {
    const int input = arguments.input[i];
    lua_pushboolean(L,
                    input >= 0 && context().grad_enabled && arguments.tensors[size_t(input)].requires_grad());
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  lua_setfield(L, -2, "needs_input_grad");
  lua_setiuservalue(L, -2, kFields);
  luaL_setmetatable(L, kContextType);
  set_saved(L, {});
}

// A finished call that can be run again with other tensors (CustomOp::again). `arguments` is the Lua table of
// its arguments, with false in place of each tensor.
struct ForwardAgain {
  const Op* record;
  LuaFunction forward, backward, arguments;
  std::vector<int> input;  // as in Given
};

CustomOp run_forward_again(const std::shared_ptr<const ForwardAgain>& call, const TensorList& inputs) {
  auto shared = std::make_shared<std::unique_ptr<LuaFunction>>();
  call->forward.protect("", [&](lua_State* L) {
    push_context(L, Given{inputs, call->input});
    *shared = std::make_unique<LuaFunction>(L, -1);
  });
  CustomOp op;
  op.record = call->record;
  op.forward = [call, shared](CustomContext& ctx, const TensorList& tensors) {
    TensorList outputs;
    call->forward.protect("", [&](lua_State* L) {
      const int count = int(call->input.size());
      luaL_checkstack(L, 2 * count + 16, "too many arguments");
      call->arguments.push(L);
      call->forward.push(L);
      (*shared)->push(L);
      for (int i = 0; i < count; ++i) {
        const int input = call->input[size_t(i)];
        input >= 0 ? push_tensor(L, tensors[size_t(input)]) : void(lua_rawgeti(L, 1, i + 1));
      }
      lua_call(L, count + 1, LUA_MULTRET);
      for (int i = 2; i <= lua_gettop(L); ++i)
        if (const Tensor* const x = to_tensor(L, i)) outputs.push_back(*x);
      (*shared)->push(L);
      ctx.save(take_saved(L));
    });
    return outputs;
  };
  op.backward = [call, shared](const CustomContext& ctx, const TensorList& grads) {
    const auto tensors =
        std::count_if(call->input.begin(), call->input.end(), [](int input) { return input >= 0; });
    return run_backward(call->backward, **shared, Given{TensorList(size_t(tensors)), call->input},
                        ctx.saved(), grads);
  };
  return op;
}

int call_custom(lua_State* L);

// Inside vmap: calls the op once for each sample of its batched arguments and pushes the results, stacked.
int call_for_each_sample(lua_State* L) {
  const int count = lua_gettop(L);
  TensorList tensors;
  for (int i = 1; i <= count; ++i)
    if (const Tensor* const x = to_tensor(L, i)) tensors.push_back(*x);
  TensorList stacked = for_each_sample(tensors, [&](const TensorList& sample) {
    luaL_checkstack(L, count + 8, "too many arguments");
    for (int i = 1; i <= 3; ++i) lua_pushvalue(L, lua_upvalueindex(i));
    lua_pushcclosure(L, guard<call_custom>, 3);
    size_t next = 0;
    for (int i = 1; i <= count; ++i) {
      if (to_tensor(L, i))
        push_tensor(L, sample[next++]);
      else
        lua_pushvalue(L, i);
    }
    lua_call(L, count, LUA_MULTRET);
    TensorList results;
    for (int i = count + 1; i <= lua_gettop(L); ++i) results.push_back(check_tensor(L, i, "vmap"));
    lua_settop(L, count);
    return results;
  });
  luaL_checkstack(L, int(stacked.size()), "too many results");
  for (Tensor& y : stacked) push_result(L, std::move(y));
  after_op(L);
  return int(stacked.size());
}

// Upvalues: the op's record, forward, backward.
int call_custom(lua_State* L) {
  mark_line(L);
  const int count = lua_gettop(L);
  luaL_checkstack(L, 2 * count + 16, "too many arguments");
  for (int i = 1; i <= count; ++i)
    if (const Tensor* const x = to_tensor(L, i); x && is_batched(*x)) return call_for_each_sample(L);
  const auto arguments = std::make_shared<Given>();
  for (int i = 1; i <= count; ++i) {
    const Tensor* const x = to_tensor(L, i);
    arguments->input.push_back(x ? int(arguments->tensors.size()) : -1);
    if (x) arguments->tensors.push_back(*x);
  }
  push_context(L, *arguments);
  const int shared_at = count + 1;
  const auto shared = std::make_shared<LuaFunction>(L, shared_at);
  const auto backward = std::make_shared<LuaFunction>(L, lua_upvalueindex(3));

  CustomOp op;
  op.record = static_cast<const Op*>(lua_touserdata(L, lua_upvalueindex(1)));
  op.forward = [&](CustomContext& ctx, const TensorList&) {
    lua_pushvalue(L, lua_upvalueindex(2));
    for (int i = 0; i <= count; ++i) lua_pushvalue(L, i == 0 ? shared_at : i);
    lua_call(L, count + 1, LUA_MULTRET);
    TensorList outputs;
    for (int i = shared_at + 1; i <= lua_gettop(L); ++i)
      if (const Tensor* const x = to_tensor(L, i)) outputs.push_back(*x);
    lua_pushvalue(L, shared_at);
    ctx.save(take_saved(L));
    lua_pop(L, 1);
    return outputs;
  };
  // Backward needs only the positions of the tensors among the arguments. The node holds the tensors.
  const auto places = std::make_shared<Given>(Given{TensorList(arguments->tensors.size()), arguments->input});
  op.backward = [shared, backward, places](const CustomContext& ctx, const TensorList& grads) {
    return run_backward(*backward, *shared, *places, ctx.saved(), grads);
  };
  // Only viewers run a call again. Without a listener of backward passes there is no viewer.
  if (context().capture) {
    lua_createtable(L, count, 0);
    for (int i = 1; i <= count; ++i) {
      arguments->input[size_t(i) - 1] >= 0 ? lua_pushboolean(L, false) : lua_pushvalue(L, i);
      lua_rawseti(L, -2, i);
    }
    const std::shared_ptr<const ForwardAgain> call(new ForwardAgain{
        op.record, {L, lua_upvalueindex(2)}, {L, lua_upvalueindex(3)}, {L, -1}, arguments->input});
    lua_pop(L, 1);
    op.again = [call](const TensorList& inputs) { return run_forward_again(call, inputs); };
  }
  TensorList outputs = apply_custom(op, arguments->tensors);
  size_t next = 0;
  const int first = shared_at + 1, last = lua_gettop(L);
  for (int i = first; i <= last; ++i)
    if (to_tensor(L, i)) {
      push_result(L, std::move(outputs[next++]));
      lua_replace(L, i);
    }
  after_op(L);
  return last - first + 1;
}

// lg.custom_op{name =, forward =, backward =} -> a function; also lg.custom_op(name, {forward =, backward
// =}).
int custom_op(lua_State* L) {
  std::string name;
  if (lua_type(L, 1) == LUA_TSTRING && lua_istable(L, 2)) {
    name = lua_tostring(L, 1);
    lua_remove(L, 1);
  }
  if (!lua_istable(L, 1))
    fail(
        "custom_op: a table is expected, as lg.custom_op{name = \"square\", forward = function(ctx, x) … "
        "end, "
        "backward = function(ctx, grad) … end} (got ",
        type_name(L, 1), ")");
  lua_settop(L, 1);
  lua_pushnil(L);
  lua_pushnil(L);
  each_option(L, 1, "custom_op", "name, forward, backward",
              [&](std::string_view option, int value, Callee callee) {
                if (option == "name") {
                  if (!name.empty()) fail("custom_op: the name is given twice, before the table and in it");
                  name = check_string(L, value, callee);
                  return true;
                }
                if (option != "forward" && option != "backward") return false;
                if (lua_type(L, value) != LUA_TFUNCTION) wrong_type(L, value, callee, "function");
                lua_pushvalue(L, value);
                lua_replace(L, option == "forward" ? 2 : 3);
                return true;
              });
  if (name.empty()) fail("custom_op: 'name' is missing");
  for (const int at : {2, 3})
    if (lua_isnil(L, at))
      fail("custom_op: '", at == 2 ? "forward" : "backward", "' of ", name, " is missing");
  lua_pushlightuserdata(L, const_cast<Op*>(custom_record(name)));
  lua_insert(L, 2);
  lua_pushcclosure(L, guard<call_custom>, 3);
  return 1;
}

// --- checkpoints ---

size_t bytes_in_use() { return context().device->memory().in_use; }

// Collects Lua's garbage if the device's memory in use grew by more than a threshold since `before`. Most of
// the memory that a checkpoint saves is in tensors that the function dropped. The cost of a collection grows
// with Lua's heap, so the threshold is four times the heap, at least 1 MiB.
void collect_since(lua_State* L, size_t before) {
  const size_t worth = std::max(size_t(1) << 20, size_t(lua_gc(L, LUA_GCCOUNT)) << 12);
  if (bytes_in_use() > before + worth) lua_gc(L, LUA_GCCOLLECT);
}

class UseModules {
 public:
  UseModules(lua_State* L, int reference)
      : state_(binding_state(L)), previous_(std::exchange(state_.called_modules, reference)) {}
  ~UseModules() { state_.called_modules = previous_; }
  UseModules(const UseModules&) = delete;

 private:
  BindingState& state_;
  int previous_;
};

// Swaps each module's training flag with its flag in the table at `index`: module -> flag.
void exchange_flags(lua_State* L, int index) {
  std::vector<bool> flags;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    lua_pushliteral(L, "training");
    lua_rawget(L, -3);
    flags.push_back(lua_toboolean(L, -1));
    lua_pop(L, 1);
    lua_pushliteral(L, "training");
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
  }
  size_t next = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushboolean(L, flags[next++]);
    lua_rawset(L, index);
  }
}

// Calls the function of a checkpoint again. `call` is the table {function, arguments …, n = their number};
// `modules` is the table module -> training flag in the first run.
void run_again(const LuaFunction& call, const LuaFunction& modules) {
  const size_t before = bytes_in_use();
  lua_State* main = nullptr;
  call.protect("checkpoint", [&](lua_State* L) {
    main = L;
    modules.push(L);
    call.push(L);
    lua_getfield(L, 2, "n");
    const int count = int(lua_tointeger(L, -1));
    lua_pop(L, 1);
    luaL_checkstack(L, count + 8, "too many arguments");
    for (int i = 1; i <= count; ++i) lua_rawgeti(L, 2, i);
    lua_remove(L, 2);
    int status;
    exchange_flags(L, 1);
    {
      const UseModules use(L, LUA_NOREF);
      status = lua_pcall(L, count - 1, 0, 0);
    }
    exchange_flags(L, 1);
    if (status != LUA_OK) lua_error(L);
  });
  collect_since(main, before);
}

// lg.checkpoint(fn, …) -> the results of fn(…)
int checkpoint(lua_State* L) {
  const int count = lua_gettop(L);
  check_callable(L, 1, "checkpoint");
  mark_line(L);
  const size_t before = bytes_in_use();
  if (!context().grad_enabled) {
    lua_call(L, count - 1, LUA_MULTRET);
    return lua_gettop(L);
  }
  lua_createtable(L, count, 1);
  for (int i = 1; i <= count; ++i) {
    lua_pushvalue(L, i);
    lua_rawseti(L, -2, i);
  }
  lua_pushinteger(L, count);
  lua_setfield(L, -2, "n");
  const auto call = std::make_shared<LuaFunction>(L, -1);
  lua_pop(L, 1);
  // Nested checkpoints share a table, because recomputing the outer checkpoint runs the inner ones again.
  if (const int outer = binding_state(L).called_modules; outer != LUA_NOREF)
    lua_rawgeti(L, LUA_REGISTRYINDEX, outer);
  else
    lua_newtable(L);
  const auto modules = std::make_shared<LuaFunction>(L, -1);
  lua_pop(L, 1);
  run_checkpoint(
      [&] {
        const UseModules use(L, modules->reference());
        lua_call(L, count - 1, LUA_MULTRET);
      },
      [call, modules] { run_again(*call, *modules); });
  collect_since(L, before);
  after_op(L);
  return lua_gettop(L);
}

// is_checkpointing() -> whether a function of lg.checkpoint is running, for the first time or in a recompute.
int is_checkpointing(lua_State* L) {
  lua_pushboolean(L, context().checkpoint && !is_unsharded_region(context().checkpoint));
  return 1;
}

// _recomputing() -> whether a checkpoint is being recomputed. Its first run has already updated the running
// statistics.
int is_recomputing(lua_State* L) {
  lua_pushboolean(L, context().checkpoint && context().checkpoint->recomputing());
  return 1;
}

constexpr luaL_Reg kCustomOpFunctions[] = {{"custom_op", guard<custom_op>},
                                           {"checkpoint", guard<checkpoint>},
                                           {"_recomputing", guard<is_recomputing>},
                                           {"is_checkpointing", guard<is_checkpointing>},
                                           {nullptr, nullptr}};

}  // namespace

void bind_custom(lua_State* L, int core, int) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kCustomOpFunctions, 0);
  lua_pop(L, 1);
  luaL_newmetatable(L, kContextType);
  luaL_setfuncs(L, kContextEvents, 0);
  luaL_newlib(L, kContextMethods);
  lua_setfield(L, -2, "methods");
  lua_pop(L, 1);
}

}  // namespace lunagrad
