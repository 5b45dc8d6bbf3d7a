// Binds every op from its record. A call takes the arguments in the order of the signature, then optionally a
// table of arguments by name, and returns one result for each output. An op is a function of lunagrad.core
// and a method of Tensor.
#include "script/bind/tensor/ops.h"

#include <cstring>

#include "runtime/batching/batched.h"
#include "runtime/core/in_place.h"
#include "runtime/ops.h"
#include "script/bind/tensor/called_as.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/garbage.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

const Signature& called(lua_State* L) {
  return *static_cast<const Signature*>(lua_touserdata(L, lua_upvalueindex(1)));
}

// The fast path for most calls: the arguments are exactly the operands, in order. Otherwise returns false and
// leaves `in` empty.
bool read_plain(lua_State* L, const Signature& signature, Operands& in) {
  const int count = lua_gettop(L);
  if (!signature.only_inputs || size_t(count) != signature.op->inputs.size()) return false;
  bool any_tensor = false;
  for (int i = 1; i <= count; ++i) {
    if (const Tensor* const x = to_tensor(L, i)) {
      in.push_back(*x);
      any_tensor = true;
    } else if (lua_type(L, i) == LUA_TNUMBER && (signature.numbers >> (i - 1) & 1)) {
      in.push_back(check_operand(L, i, signature.op->name));
    } else {
      break;
    }
  }
  if (any_tensor && in.size() == size_t(count)) return true;
  in.clear();
  return false;
}

Value read_choice(lua_State* L, int index, const ParamSpec& spec, Callee callee) {
  const std::string_view given = check_string(L, index, callee);
  std::string known;
  for (size_t i = 0; i < spec.choices.size(); ++i) {
    if (given == spec.choices[i]) return int64_t(i);
    known += (i ? ", '" : "'") + std::string(spec.choices[i]) + "'";
  }
  bad_argument(L, index, callee, "one of " + known + " expected, got '" + std::string(given) + "'");
}

// Reads the parameter at stack index `index`. A list may be separate integers, from `index` to `last`.
Value read_param(lua_State* L, int index, int last, const ParamSpec& spec, Callee callee) {
  switch (spec.kind) {
    case ParamKind::boolean:
      return check_boolean(L, index, callee);
    case ParamKind::integer:
      return check_integer(L, index, callee);
    case ParamKind::real:
      if (!spec.choices.empty() && lua_type(L, index) == LUA_TSTRING)
        return read_choice(L, index, spec, callee);
      return check_number(L, index, callee);
    case ParamKind::number:
      if (lua_isboolean(L, index)) return bool(lua_toboolean(L, index));
      if (lua_isinteger(L, index)) return int64_t(lua_tointeger(L, index));
      return check_number(L, index, callee);
    case ParamKind::integers:
      if (!spec.choices.empty() && lua_type(L, index) == LUA_TSTRING)
        return read_choice(L, index, spec, callee);
      return check_integers(L, index, last, callee);
    case ParamKind::dims:
      return check_positions(L, index, last, callee);
    case ParamKind::dim:
    case ParamKind::position:
      return check_position(L, index, callee);
    case ParamKind::dtype:
      return check_dtype(L, index, callee);
    case ParamKind::choice:
      return read_choice(L, index, spec, callee);
    case ParamKind::text:
      return int64_t(intern(check_string(L, index, callee)));
  }
  return {};
}

Tensor read_input(lua_State* L, int index, const Signature& signature, size_t input, Callee callee) {
  return signature.numbers >> input & 1 ? check_operand(L, index, callee) : check_tensor(L, index, callee);
}

bool is_list(const ParamSpec& spec) {
  return spec.kind == ParamKind::integers || spec.kind == ParamKind::dims;
}

// The options of a call that creates a tensor.
struct Placement {
  Device* device = nullptr;  // null: the default device, or the operand's device (zeros_like, …)
  bool requires_grad = false;
};

// Reads the arguments of one call from the stack. Omitted parameters get their default.
class Reader {
 public:
  Reader(lua_State* L, const Signature& signature, Operands& in, Values& params)
      : L_(L),
        signature_(signature),
        name_(signature.op->name),
        op_(*signature.full),
        in_(in),
        params_(params),
        last_(lua_gettop(L)) {}

  const Placement& placement() const { return placement_; }

  void read() {
    in_.resize(op_.inputs.size());
    for (const ParamSpec& spec : op_.params) params_.push_back(spec.fallback);
    const bool options = last_ > 0 && is_options(L_, last_);
    if (options) --last_;
    read_positions();
    if (options) read_options();
    check_complete();
    if (!op_.inputs.empty() && op_.inputs.back().list) append_list();
  }

 private:
  // An empty table is an empty list where a list is expected, otherwise empty options.
  bool is_empty_options(int index, const Slot& slot) const {
    const bool list = slot.is_input ? op_.inputs[slot.index].list : is_list(op_.params[slot.index]);
    return !list && index == last_ && lua_type(L_, index) == LUA_TTABLE && lua_rawlen(L_, index) == 0;
  }

  bool is_tensor_list(const Slot& slot) const { return slot.is_input && op_.inputs[slot.index].list; }

  // A list operand: a table of tensors at `index`, or separate tensors from `index` to `end`.
  void read_list(int index, int end, Callee callee) {
    if (end == index) list_ = check_tensors(L_, index, callee);
    for (int i = index; end > index && i <= end; ++i) list_.push_back(check_tensor(L_, i, callee));
  }

  void read_positions() {
    const std::vector<Slot>& slots = signature_.slots;
    int index = 1;
    for (size_t i = 0; i < slots.size() && index <= last_; ++i) {
      if (is_empty_options(index, slots[i])) return;
      int end = index;
      if (!slots[i].is_input && is_list(op_.params[slots[i].index]) && signature_.spreads(i))
        while (end < last_ && lua_type(L_, end) == LUA_TNUMBER && lua_type(L_, end + 1) == LUA_TNUMBER) ++end;
      if (is_tensor_list(slots[i]) && to_tensor(L_, index))
        while (end < last_ && to_tensor(L_, end + 1)) ++end;
      if (!lua_isnil(L_, index)) {
        read_slot(slots[i], index, end, name_);
        given_ |= 1u << i;
      }
      index = end + 1;
    }
    if (index == last_ && lua_type(L_, index) == LUA_TTABLE && lua_rawlen(L_, index) == 0) return;
    if (index <= last_)
      bad_argument(L_, index, name_, "at most " + std::to_string(index - 1) + " arguments expected");
  }

  void read_options() {
    each_option(L_, last_ + 1, name_, signature_.names, [&](std::string_view name, int value, Callee callee) {
      const Slot* const slot = signature_.find(name);
      if (!slot) return signature_.creates && read_placement(name, value, callee);
      const uint32_t bit = 1u << (slot - signature_.slots.data());
      if (given_ & bit) fail(name_, ": '", name, "' is given twice, at its position and by name");
      given_ |= bit;
      read_slot(*slot, value, value, callee);
      return true;
    });
  }

  bool read_placement(std::string_view name, int value, Callee callee) {
    if (name == "device")
      placement_.device = &check_device(L_, value, callee);
    else if (name == "requires_grad")
      placement_.requires_grad = check_boolean(L_, value, callee);
    else
      return false;
    return true;
  }

  void read_slot(const Slot& slot, int index, int end, Callee callee) {
    if (!slot.is_input)
      params_[slot.index] = read_param(L_, index, end, op_.params[slot.index], callee);
    else if (op_.inputs[slot.index].list)
      read_list(index, end, callee);
    else
      in_[slot.index] = read_input(L_, index, signature_, slot.index, callee);
  }

  void check_complete() {
    bool any_tensor = false;
    for (const Tensor& x : in_) any_tensor |= x.defined() && !x.is_number();
    for (size_t i = 0; i < signature_.slots.size(); ++i) {
      const Slot& slot = signature_.slots[i];
      if (slot.required && !(given_ >> i & 1)) bad_argument(L_, int(i) + 1, name_, missing(slot, int(i) + 1));
    }
    if (!in_.empty() && !op_.inputs.back().list && !any_tensor) wrong_type(L_, 1, name_, "Tensor");
  }

  std::string missing(const Slot& slot, int position) const {
    static constexpr const char* kKinds[] = {"boolean",  "integer",  "number",    "number or boolean",
                                             "integers", "position", "positions", "position",
                                             "dtype",    "string",   "string"};
    const char* const kind = slot.is_input ? "Tensor" : kKinds[size_t(op_.params[slot.index].kind)];
    return std::string(kind) + " expected for '" + slot.name + "', got " +
           (position > last_ ? "no value" : "nil");
  }

  void append_list() {
    in_.pop_back();
    for (Tensor& x : list_) in_.push_back(std::move(x));
  }

  lua_State* const L_;
  const Signature& signature_;
  const char* const name_;
  const Op& op_;  // signature.full
  Operands& in_;
  Values& params_;
  TensorList list_;
  Placement placement_;
  int last_;            // index of the last argument that is not the options table
  uint32_t given_ = 0;  // bit i: slot i has a value
};

int push_results(lua_State* L, Operands& out) {
  const int count = int(out.size());
  if (count + 2 > LUA_MINSTACK) luaL_checkstack(L, count + 2, "too many results");
  for (Tensor& x : out) push_result(L, std::move(x));
  after_op(L);
  return count;
}

// Whether all parameters that only the full form has are at their defaults. Then the op itself runs instead
// of the full form.
bool takes_defaults(const Signature& signature, const Values& params) {
  for (size_t i = signature.op->params.size(); i < params.size(); ++i)
    if (!(params[i] == signature.full->params[i].fallback)) return false;
  return true;
}

int run_signature(lua_State* L, const Signature& signature) {
  mark_line(L);
  Operands out;
  with_memory_retry(L, [&] {
    Call call;
    call.op = signature.op;
    if (!read_plain(L, signature, call.in)) {
      Reader(L, signature, call.in, call.params).read();
      call.op = signature.full;
      if (signature.extends && takes_defaults(signature, call.params)) {
        call.op = signature.op;
        call.params.resize(signature.op->params.size());
      }
    }
    if (call.op->random) {
      out = apply(*call.op, std::move(call.in), std::move(call.params));
    } else {
      run(call);
      out = std::move(call.out);
    }
  });
  return push_results(L, out);
}

int call_op(lua_State* L) { return run_signature(L, called(L)); }

// Makes `device` the default device during the object's lifetime; null: no change.
class OnDevice {
 public:
  explicit OnDevice(Device* device) : previous_(context().device) {
    if (device) context().device = device;
  }
  ~OnDevice() { context().device = previous_; }
  OnDevice(const OnDevice&) = delete;

 private:
  Device* previous_;
};

int call_creation(lua_State* L) {
  const Signature& signature = called(L);
  mark_line(L);
  Tensor made;
  with_memory_retry(L, [&] {
    Operands in;
    Values params;
    Reader reader(L, signature, in, params);
    reader.read();
    const Placement& placement = reader.placement();
    const OnDevice on(placement.device);
    made = apply1(*signature.op, std::move(in), std::move(params));
    if (placement.device && &physical_device(made.device()) != placement.device)
      made = to(made, *placement.device);
    if (placement.requires_grad) made.requires_grad_();
  });
  push_result(L, std::move(made));
  after_op(L);
  return 1;
}

// randint(high, size) is randint(0, high, size).
int call_randint(lua_State* L) {
  if (lua_gettop(L) >= 2 && lua_type(L, 2) != LUA_TNUMBER) {
    lua_pushinteger(L, 0);
    lua_insert(L, 1);
  }
  return call_creation(L);
}

int call_in_place(lua_State* L) {
  const Signature& signature = called(L);
  check_tensor(L, 1, signature.op->name);
  mark_line(L);
  called_as((signature.op->name + std::string("_")).c_str(), [&] {
    with_memory_retry(L, [&] {
      Operands in;
      Values params;
      const bool plain = read_plain(L, signature, in);
      if (!plain) Reader(L, signature, in, params).read();
      if (signature.op->elementwise < 0)
        run_in_place(plain ? *signature.op : *signature.full, std::move(in), std::move(params));
      else if (plain || signature.full == signature.op)
        apply_in_place(*signature.op, std::move(in), std::move(params));
      else
        run_form_in_place(*signature.full, std::move(in), std::move(params));
    });
  });
  lua_settop(L, 1);
  after_op(L);
  return 1;
}

// max(a, b) of two tensors is maximum(a, b). Upvalue 2: the signature of maximum (minimum).
int call_extreme(lua_State* L) {
  const auto& pairwise = *static_cast<const Signature*>(lua_touserdata(L, lua_upvalueindex(2)));
  if (lua_gettop(L) == 2 && to_tensor(L, 1) && to_tensor(L, 2)) return run_signature(L, pairwise);
  if (lua_type(L, 2) == LUA_TNUMBER && !lua_isinteger(L, 2))
    fail(called(L).op->name, ": a dim is an integer (got ", lua_tonumber(L, 2), "); with a number it is lg.",
         pairwise.op->name, "(x, ", lua_tonumber(L, 2), ")");
  return call_op(L);
}

// complex(re, im) of two numbers makes a 0-d tensor on the default device.
int call_complex(lua_State* L) {
  if (lua_gettop(L) != 2 || lua_type(L, 1) != LUA_TNUMBER || lua_type(L, 2) != LUA_TNUMBER) return call_op(L);
  mark_line(L);
  const Tensor made = complex(Tensor::number(lua_tonumber(L, 1)), Tensor::number(lua_tonumber(L, 2)));
  push_result(L, to(made, *context().device));
  after_op(L);
  return 1;
}

// Drops the second argument: Lua passes the operand of a unary operator twice.
int call_negation(lua_State* L) {
  lua_settop(L, 1);
  return call_op(L);
}

// The positions of the true elements of x: an index tensor for each dim, as several results. As in PyTorch, a
// tensor without dims counts as having one.
int push_positions(lua_State* L, const Tensor& x) {
  mark_line(L);
  Tensor found;
  with_memory_retry(L, [&] { found = nonzero(x.ndim() == 0 ? reshape(x, {1}) : x); });
  const int dims = std::max(x.ndim(), 1);
  luaL_checkstack(L, dims, "nonzero");
  for (int d = 0; d < dims; ++d) push_result(L, select(found, 1, d));
  after_op(L);
  return dims;
}

// nonzero(x), and nonzero(x, {as_tuple = true}).
int call_nonzero(lua_State* L) {
  bool several = false;
  if (lua_gettop(L) == 2 && is_options(L, 2)) {
    each_option(L, 2, "nonzero", "as_tuple", [&](std::string_view name, int value, Callee callee) {
      if (name == "as_tuple") several = check_boolean(L, value, callee);
      return name == "as_tuple";
    });
    lua_settop(L, 1);
  }
  return several ? push_positions(L, check_tensor(L, 1, "nonzero")) : call_op(L);
}

// where(cond, a, b), and where(cond), which returns the positions.
int call_where(lua_State* L) {
  if (lua_gettop(L) == 1)
    if (const Tensor* const condition = to_tensor(L, 1)) return push_positions(L, *condition);
  return call_op(L);
}

// a:where(cond, b) is lg.where(cond, a, b).
int call_where_method(lua_State* L) {
  if (lua_gettop(L) >= 2) {
    lua_pushvalue(L, 2);
    lua_remove(L, 2);
    lua_insert(L, 1);
  }
  return call_op(L);
}

// polygamma(n, x), and x:polygamma(n).
int call_polygamma(lua_State* L) {
  if (lua_gettop(L) >= 2 && to_tensor(L, 1) && lua_type(L, 2) == LUA_TNUMBER) {
    lua_pushvalue(L, 2);
    lua_remove(L, 2);
    lua_insert(L, 1);
  }
  return call_op(L);
}
int call_polygamma_in_place(lua_State* L) {
  const Signature& signature = called(L);
  const Tensor x = check_tensor(L, 1, "polygamma");
  mark_line(L);
  with_memory_retry(L, [&] { run_in_place(*signature.op, {x}, {check_integer(L, 2, "polygamma")}); });
  lua_settop(L, 1);
  after_op(L);
  return 1;
}

// narrow(x, dim, start, length). `start` is a position, or a tensor of one integer, which counts from 0.
int call_narrow(lua_State* L) {
  if (const Tensor* const start = to_tensor(L, 3)) {
    if (is_differentiable(start->dtype()) || start->numel() != 1)
      fail("narrow: start must be one integer (got ", start->dtype(), " of shape ", start->shape(), ")");
    lua_pushinteger(L, lua_Integer(start->item_integer()) + 1);
    lua_replace(L, 3);
  }
  return call_op(L);
}

// atleast_1d(a, b, …), or the same with a table of tensors: a result for each.
int call_atleast(lua_State* L) {
  const bool list = lua_type(L, 1) == LUA_TTABLE && lua_rawlen(L, 1) > 0;
  if (!list && lua_gettop(L) == 1) return call_op(L);
  const Signature& signature = called(L);
  TensorList inputs;
  if (list) inputs = check_tensors(L, 1, signature.op->name);
  for (int i = 1; !list && i <= lua_gettop(L); ++i) inputs.push_back(check_tensor(L, i, signature.op->name));
  if (inputs.empty()) wrong_type(L, 1, signature.op->name, "Tensor");
  mark_line(L);
  Operands out;
  for (const Tensor& x : inputs) out.push_back(apply1(*signature.op, {x}));
  return push_results(L, out);
}

// tensordot(a, b, {dims_self, dims_other}) is tensordot(a, b, nil, dims_self, dims_other).
int call_tensordot(lua_State* L) {
  if (lua_istable(L, 3) && lua_rawlen(L, 3) == 2) {
    lua_rawgeti(L, 3, 1);
    lua_rawgeti(L, 3, 2);
    lua_insert(L, 4);
    lua_insert(L, 4);
    lua_pushnil(L);
    lua_replace(L, 3);
  }
  return call_op(L);
}

// allclose(a, b, …) -> boolean: whether isclose(a, b, …) is true for all elements
int call_allclose(lua_State* L) {
  call_op(L);
  const NoGrad off;
  lua_pushboolean(L, all(check_tensor(L, lua_gettop(L), "allclose")).item() != 0);
  return 1;
}

void push_op(lua_State* L, lua_CFunction function, const Signature& signature) {
  lua_pushlightuserdata(L, const_cast<Signature*>(&signature));
  lua_pushcclosure(L, function, 1);
}

// Binds the op as a function of lunagrad.core and, if its first operand is a tensor, as a method of Tensor.
// The in-place form `name_` is only a method. "fft.rfft" is only the function rfft of the table fft.
void bind_op(lua_State* L, int core, int methods, const Signature& signature) {
  const Op& op = *signature.op;
  if (const std::string table = table_of(op); !table.empty()) {
    luaL_getsubtable(L, core, table.c_str());
    push_op(L, signature.creates ? guard<call_creation> : guard<call_op>, signature);
    lua_setfield(L, -2, op.name + table.size() + 1);
    lua_pop(L, 1);
    return;
  }
  push_op(L, signature.creates ? guard<call_creation> : guard<call_op>, signature);
  if (!op.inputs.empty() && !op.inputs[0].list) {
    lua_pushvalue(L, -1);
    lua_setfield(L, methods, op.name);
  }
  lua_setfield(L, core, op.name);
  if (!has_in_place_form(op)) return;
  push_op(L, guard<call_in_place>, signature);
  lua_setfield(L, methods, (op.name + std::string("_")).c_str());
}

// An alias is the same function, method and in-place method.
void bind_aliases(lua_State* L, int core, int methods) {
  const auto copy = [L](int table, const std::string& from, const std::string& to) {
    lua_getfield(L, table, from.c_str());
    if (lua_isnil(L, -1))
      lua_pop(L, 1);
    else
      lua_setfield(L, table, to.c_str());
  };
  for (const Alias& alias : aliases()) {
    const std::string name = alias.name, op = alias.op;
    copy(core, op, name);
    copy(methods, op, name);
    copy(methods, op + "_", name + "_");
  }
}

}  // namespace

void push_op_function(lua_State* L, const Signature& signature) {
  push_op(L, signature.creates ? guard<call_creation> : guard<call_op>, signature);
}

void bind_ops(lua_State* L, int core, int methods) {
  for (const Signature& signature : signatures())
    if (!signature.op->hidden()) bind_op(L, core, methods, signature);
  // Ops whose calls differ from their signatures, with the name of the function, the method or both.
  const struct {
    const char *op, *name;
    lua_CFunction function, method;
  } special[] = {{"where", "where", guard<call_where>, guard<call_where_method>},
                 {"randint", "randint", guard<call_randint>, nullptr},
                 {"complex", "complex", guard<call_complex>, nullptr},
                 {"isclose", "allclose", guard<call_allclose>, guard<call_allclose>},
                 {"nonzero", "nonzero", guard<call_nonzero>, guard<call_nonzero>},
                 {"tensordot", "tensordot", guard<call_tensordot>, guard<call_tensordot>},
                 {"polygamma", "polygamma", guard<call_polygamma>, guard<call_polygamma>},
                 {"narrow", "narrow", guard<call_narrow>, guard<call_narrow>},
                 {"atleast_1d", "atleast_1d", guard<call_atleast>, guard<call_atleast>},
                 {"atleast_2d", "atleast_2d", guard<call_atleast>, guard<call_atleast>},
                 {"atleast_3d", "atleast_3d", guard<call_atleast>, guard<call_atleast>}};
  for (const auto& [op, name, function, method] : special)
    for (const auto& [table, called] : {std::pair(core, function), std::pair(methods, method)}) {
      if (!called) continue;
      push_op(L, called, *find_signature(op));
      lua_setfield(L, table, name);
    }
  push_op(L, guard<call_polygamma_in_place>, *find_signature("polygamma"));
  lua_setfield(L, methods, "polygamma_");
  bind_aliases(L, core, methods);
  for (const auto& [reduction, pairwise] : {std::pair("max", "maximum"), std::pair("min", "minimum")}) {
    for (const int table : {core, methods}) {
      lua_pushlightuserdata(L, const_cast<Signature*>(find_signature(reduction)));
      lua_pushlightuserdata(L, const_cast<Signature*>(find_signature(pairwise)));
      lua_pushcclosure(L, guard<call_extreme>, 2);
      lua_setfield(L, table, reduction);
    }
  }
  // Lua's operators and the ops that they call.
  static constexpr const char* kOperators[][2] = {{"__add", "add"},
                                                  {"__sub", "sub"},
                                                  {"__mul", "mul"},
                                                  {"__div", "div"},
                                                  {"__pow", "pow"},
                                                  {"__mod", "remainder"},
                                                  {"__unm", "neg"},
                                                  {"__idiv", "floor_divide"},
                                                  {"__band", "bitwise_and"},
                                                  {"__bor", "bitwise_or"},
                                                  {"__bxor", "bitwise_xor"},
                                                  {"__bnot", "bitwise_not"},
                                                  {"__shl", "bitwise_left_shift"},
                                                  {"__shr", "bitwise_right_shift"}};
  lua_rawgeti(L, LUA_REGISTRYINDEX, binding_state(L).tensor_metatable);
  for (const auto& [event, op] : kOperators) {
    const Signature* const signature = find_signature(op);
    if (!signature) continue;
    const bool unary = std::strcmp(event, "__unm") == 0 || std::strcmp(event, "__bnot") == 0;
    push_op(L, unary ? guard<call_negation> : guard<call_op>, *signature);
    lua_setfield(L, -2, event);
  }
  lua_pop(L, 1);
}

}  // namespace lunagrad
