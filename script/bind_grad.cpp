// Gradients in Lua: backward, hooks, lg.grad, no_grad, the tape as data. Functions of the script that the
// engine calls run protected on the state's main thread; an error in one becomes an Error of the engine, and
// so one Lua error that carries both lines.
#include <memory>

#include "runtime/gradcheck.h"
#include "runtime/tape.h"
#include "script/convert.h"
#include "script/edge.h"
#include "script/signature.h"

namespace lunagrad {
namespace {

// --- functions of the script, called by the engine ---

// A Lua function kept in the registry for as long as the engine may call it.
class LuaFunction {
 public:
  LuaFunction(lua_State* L, int index) : state_(edge(L).alive) {
    lua_pushvalue(L, index);
    reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  ~LuaFunction() {
    if (Edge* const state = *state_) luaL_unref(state->main, LUA_REGISTRYINDEX, reference_);
  }
  LuaFunction(const LuaFunction&) = delete;

  // Calls it with the tensors; its results are tensors or nil. `what` names it in errors.
  TensorList call(const TensorList& arguments, const char* what) const {
    Edge* const state = *state_;
    if (!state) fail(what, ": the script that set it has ended");
    lua_State* const L = state->main;
    const int top = lua_gettop(L);
    if (!lua_checkstack(L, int(arguments.size()) + 4)) fail(what, ": too many arguments");
    const SourceLine line = context().line;
    Protected call{this, &arguments, {}};
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, &call);
    state->last_error.message[0] = '\0';
    const int status = lua_pcall(L, 1, 1, 0);
    context().line = line;
    if (status == LUA_OK) {
      lua_settop(L, top);
      return std::move(call.results);
    }
    size_t length = 0;
    const char* const message = luaL_tolstring(L, -1, &length);
    const std::string text = std::string(what) + ": " + std::string(message, length);
    const char* const last = state->last_error.message;
    ErrorKind kind = ErrorKind::value;
    if (status == LUA_ERRMEM)
      kind = ErrorKind::memory;
    else if (*last && text.find(last) != std::string::npos)
      kind = state->last_error.kind;
    lua_settop(L, top);
    throw Error(text, kind);
  }

 private:
  struct Protected {
    const LuaFunction* function;
    const TensorList* arguments;
    TensorList results;
  };

  static int run_inside(lua_State* L) {
    auto& call = *static_cast<Protected*>(lua_touserdata(L, 1));
    lua_rawgeti(L, LUA_REGISTRYINDEX, call.function->reference_);
    for (const Tensor& x : *call.arguments) push_tensor(L, x);
    lua_call(L, int(call.arguments->size()), LUA_MULTRET);
    for (int i = 2; i <= lua_gettop(L); ++i)
      call.results.push_back(lua_isnil(L, i) ? Tensor() : check_tensor(L, i, "return"));
    return 0;
  }
  static constexpr lua_CFunction run = guard<run_inside>;

  std::shared_ptr<Edge*> state_;
  int reference_;
};

// --- backward ---

BackwardOptions read_backward_options(lua_State* L, int index) {
  BackwardOptions options;
  each_option(L, index, "backward", "retain_graph, create_graph, gradient",
              [&](std::string_view name, int value, Callee callee) {
                if (name == "retain_graph")
                  options.retain_graph = check_boolean(L, value, callee);
                else if (name == "create_graph")
                  options.create_graph = check_boolean(L, value, callee);
                else
                  return false;
                return true;
              });
  return options;
}

// x:backward(), x:backward(seed), x:backward(seed, options), x:backward(options)
int backward_from(lua_State* L) {
  const Tensor x = check_tensor(L, 1, "backward");
  Tensor seed;
  BackwardOptions options;
  const int options_at = lua_istable(L, 2) ? 2 : 3;
  if (options_at == 3 && !lua_isnoneornil(L, 2)) seed = check_tensor(L, 2, "backward");
  if (!lua_isnoneornil(L, options_at)) {
    if (!lua_istable(L, options_at)) wrong_type(L, options_at, "backward", "options table");
    options = read_backward_options(L, options_at);
  }
  mark_line(L);
  backward(x, seed, options);
  add_pressure(L, 0);
  after_op(L);
  return 0;
}

// lg.grad(outputs, inputs, options), called through __call: the table itself is argument 1.
int gradients(lua_State* L) {
  const TensorList outputs = check_tensors(L, 2, "grad"), inputs = check_tensors(L, 3, "grad");
  TensorList seeds;
  GradOptions options;
  if (!lua_isnoneornil(L, 4)) {
    if (!lua_istable(L, 4)) wrong_type(L, 4, "grad", "options table");
    each_option(L, 4, "grad", "grad_outputs, retain_graph, create_graph, allow_unused",
                [&](std::string_view name, int value, Callee callee) {
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

// The same handle, from now on a leaf.
int detach_in_place(lua_State* L) {
  const Tensor x = check_tensor(L, 1, "detach_");
  if (x.body()->base) fail("detach_: a view cannot be detached in place; use detach()");
  x.body()->node = nullptr;
  lua_settop(L, 1);
  return 1;
}

int retain_gradient(lua_State* L) {
  retain_grad(check_tensor(L, 1, "retain_grad"));
  return 0;
}

constexpr const char* kHandleType = "lunagrad.Hook";

int hook_remove(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_getfield(L, 1, "tensor");
  lua_getfield(L, 1, "id");
  remove_hook(check_tensor(L, 2, "remove"), uint64_t(check_integer(L, 3, "remove")));
  return 0;
}

// x:register_hook(fn): fn(gradient) may return another gradient. The result's :remove() takes it off.
int add_hook(lua_State* L) {
  const Tensor x = check_tensor(L, 1, "register_hook");
  if (lua_type(L, 2) != LUA_TFUNCTION) wrong_type(L, 2, "register_hook", "function");
  const auto function = std::make_shared<LuaFunction>(L, 2);
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

// Puts back what was before; a second time does nothing.
int end_mode(lua_State* L) {
  lua_getfield(L, 1, "previous");
  if (!lua_isnil(L, -1)) context().grad_enabled = lua_toboolean(L, -1);
  lua_pushnil(L);
  lua_setfield(L, 1, "previous");
  return 0;
}

// no_grad(fn, …) runs fn with the tape off and gives its results; no_grad() switches it off until the value
// is closed.
template <bool enabled>
int with_mode(lua_State* L) {
  const char* const name = enabled ? "enable" : "no_grad";
  if (lua_isnoneornil(L, 1)) {
    lua_createtable(L, 0, 1);
    lua_pushboolean(L, context().grad_enabled);
    lua_setfield(L, -2, "previous");
    luaL_setmetatable(L, kModeType);
    context().grad_enabled = enabled;
    return 1;
  }
  if (lua_type(L, 1) != LUA_TFUNCTION) wrong_type(L, 1, name, "function");
  const GradMode mode(enabled);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

int is_enabled(lua_State* L) {
  lua_pushboolean(L, context().grad_enabled);
  return 1;
}

// --- checks ---

// lg.grad.check(fn, inputs, {eps =, tolerance =}) -> true, or false and what is wrong; checkgrad2 for the
// second order.
template <bool second_order>
int check_gradients(lua_State* L) {
  const char* const name = second_order ? "checkgrad2" : "check";
  if (lua_type(L, 1) != LUA_TFUNCTION) wrong_type(L, 1, name, "function");
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

// --- the tape as data ---

void set_text(lua_State* L, const char* field, const std::string& value) {
  push_string(L, value);
  lua_setfield(L, -2, field);
}
void set_integer(lua_State* L, const char* field, int64_t value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, field);
}

void push_operand(lua_State* L, const Operand& operand, const char* name) {
  lua_createtable(L, 0, 8);
  if (name) set_text(L, "name", name);
  set_integer(L, "tensor", int64_t(operand.tensor_id));
  if (operand.node) set_integer(L, "node", int64_t(operand.node->id));
  if (operand.layout) {
    push_dims(L, operand.layout->shape);
    lua_setfield(L, -2, "shape");
    push_dims(L, operand.layout->strides);
    lua_setfield(L, -2, "stride");
    set_text(L, "dtype", dtype_name(operand.dtype));
  }
  lua_pushboolean(L, bool(operand.saved));
  lua_setfield(L, -2, "saved");
  set_integer(L, "version", operand.version);
}

const char* input_name(const Op& op, size_t i) {
  return op.inputs.empty() ? nullptr : op.inputs[std::min(i, op.inputs.size() - 1)].name;
}

void push_attributes(lua_State* L, const Node& node) {
  lua_newtable(L);
  if (!node.attributes) return;
  const Values& params = node.attributes->params;
  for (size_t i = 0; i < params.size(); ++i)
    set_text(L, node.op->params[i].name, print_value(node.op->params[i], params[i]));
}

int64_t output_bytes(const Node& node) {
  int64_t bytes = 0;
  for (const Operand& out : node.out)
    if (out.layout) bytes += out.layout->numel * int64_t(item_size(out.dtype));
  return bytes;
}

void push_node(lua_State* L, const Node& node) {
  lua_createtable(L, 0, 16);
  set_integer(L, "id", int64_t(node.id));
  set_text(L, "op", node.label());
  push_attributes(L, node);
  lua_setfield(L, -2, "attrs");
  lua_createtable(L, int(node.in.size()), 0);
  bool saved = false;
  for (size_t i = 0; i < node.in.size(); ++i) {
    push_operand(L, node.in[i], node.op ? input_name(*node.op, i) : nullptr);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
    saved |= bool(node.in[i].saved);
  }
  lua_setfield(L, -2, "inputs");
  lua_createtable(L, int(node.out.size()), 0);
  for (size_t i = 0; i < node.out.size(); ++i) {
    push_operand(L, node.out[i], nullptr);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
    saved |= !node.is_leaf() && bool(node.out[i].saved);
  }
  lua_setfield(L, -2, "outputs");
  if (!node.out.empty() && node.out[0].layout) {
    push_dims(L, node.out[0].layout->shape);
    lua_setfield(L, -2, "shape");
    set_text(L, "dtype", dtype_name(node.out[0].dtype));
  }
  if (node.device) set_text(L, "device", std::string(node.device->name()));
  lua_pushboolean(L, saved);
  lua_setfield(L, -2, "saved");
  if (node.line.known()) {
    set_text(L, "file", interned(node.line.file));
    set_integer(L, "line", node.line.line);
  }
  if (node.module) set_text(L, "module", interned(node.module));
  if (node.name) set_text(L, "name", interned(node.name));
  lua_pushnumber(L, ticks_to_ns(node.forward_ticks));
  lua_setfield(L, -2, "forward_ns");
  lua_pushnumber(L, ticks_to_ns(node.backward_ticks));
  lua_setfield(L, -2, "backward_ns");
  set_integer(L, "bytes", output_bytes(node));
}

constexpr const char* kTapeType = "lunagrad.Tape";

// lg.tape(x): the nodes that x was made by, newest first.
int tape(lua_State* L) {
  const Tensor x = check_tensor(L, 1, "tape");
  const std::vector<Node*> nodes = nodes_of(x);
  lua_createtable(L, int(nodes.size()), 1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    push_node(L, *nodes[i]);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "root");
  luaL_setmetatable(L, kTapeType);
  return 1;
}

int tape_to_dot(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_getfield(L, 1, "root");
  push_string(L, tape_dot(check_tensor(L, 2, "dot")));
  return 1;
}

// --- names for the tape ---

int set_name(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "_set_name");
  const uint32_t name = intern(check_string(L, 2, "_set_name"));
  if (x.node() && x.node()->is_leaf()) x.node()->name = name;
  return 0;
}

// _fail(message): an Error at the line of the script that called the library.
int fail_at_user(lua_State* L) { throw Error(std::string(check_string(L, 1, "_fail"))); }

constexpr luaL_Reg kMethods[] = {{"backward", guard<backward_from>},
                                 {"requires_grad_", guard<requires_grad>},
                                 {"detach", guard<detach>},
                                 {"detach_", guard<detach_in_place>},
                                 {"retain_grad", guard<retain_gradient>},
                                 {"register_hook", guard<add_hook>},
                                 {nullptr, nullptr}};
constexpr luaL_Reg kFunctions[] = {{"no_grad", guard<with_mode<false>>},
                                   {"enable_grad", guard<with_mode<true>>},
                                   {"is_grad_enabled", guard<is_enabled>},
                                   {"tape", guard<tape>},
                                   {"_set_name", guard<set_name>},
                                   {"_fail", guard<fail_at_user>},
                                   {nullptr, nullptr}};
constexpr luaL_Reg kGradTable[] = {{"no_grad", guard<with_mode<false>>},
                                   {"enable", guard<with_mode<true>>},
                                   {"is_enabled", guard<is_enabled>},
                                   {"check", guard<check_gradients<false>>},
                                   {"checkgrad2", guard<check_gradients<true>>},
                                   {nullptr, nullptr}};

// A metatable whose one event or method is `function`.
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
  luaL_setfuncs(L, kFunctions, 0);
  lua_pop(L, 2);
  make_type(L, kHandleType, "remove", guard<hook_remove>, true);
  make_type(L, kModeType, "__close", guard<end_mode>, false);
  make_type(L, kTapeType, "dot", guard<tape_to_dot>, true);

  luaL_newlib(L, kGradTable);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, guard<gradients>);
  lua_setfield(L, -2, "__call");
  lua_setmetatable(L, -2);
  lua_setfield(L, core, "grad");
}

}  // namespace lunagrad
