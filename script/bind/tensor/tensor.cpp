// Binds the type Tensor: its metatable and the methods that are not ops; fields.cpp adds its fields.
#include <cmath>

#include "runtime/batching/batched.h"
#include "runtime/core/dtype_names.h"
#include "runtime/core/in_place.h"
#include "runtime/ops.h"
#include "script/bind/tensor/called_as.h"
#include "script/bind/tensor/fields.h"
#include "script/bind/tensor/print.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/garbage.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"
#include "script/lua/size.h"
#include "script/session/session_thread.h"

namespace lunagrad {
namespace {

// --- reading ---

int size(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "size");
  if (lua_isnoneornil(L, 2)) {
    push_dims(L, x.shape());
    return 1;
  }
  const int dim = normalize_dim("size", check_position(L, 2, "size"), x.shape());
  if (x.ndim() == 0) fail("size: a scalar tensor has no dims");
  lua_pushinteger(L, x.size(dim));
  return 1;
}

int stride(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "stride");
  if (lua_isnoneornil(L, 2)) {
    push_dims(L, x.strides());
    return 1;
  }
  const int dim = normalize_dim("stride", check_position(L, 2, "stride"), x.shape());
  if (x.ndim() == 0) fail("stride: a scalar tensor has no dims");
  lua_pushinteger(L, x.strides()[dim]);
  return 1;
}

int dim(lua_State* L) {
  lua_pushinteger(L, check_tensor(L, 1, "dim").ndim());
  return 1;
}

int numel(lua_State* L) {
  lua_pushinteger(L, check_tensor(L, 1, "numel").numel());
  return 1;
}

int is_contiguous(lua_State* L) {
  lua_pushboolean(L, check_tensor(L, 1, "is_contiguous").is_contiguous());
  return 1;
}

int storage_offset(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "storage_offset");
  if (is_batched(x)) fail("storage_offset: a batched tensor of vmap has no storage of its own");
  lua_pushinteger(L, x.offset());
  return 1;
}

int id(lua_State* L) {
  lua_pushinteger(L, lua_Integer(check_tensor(L, 1, "id").id()));
  return 1;
}

int version(lua_State* L) {
  lua_pushinteger(L, check_tensor(L, 1, "version").storage().version);
  return 1;
}

// The tensor on the CPU, detached, for reading its elements. Error if an in-place write did not finish.
Tensor readable(const Tensor& x, const char* op) {
  context().check_may_read();
  const NoGrad off;
  x.storage().check_whole(op);
  return to(x.detach(), cpu_device());
}

int item(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "item");
  if (x.numel() != 1)
    fail("item: only a tensor of one element can be turned into a number (got shape ", x.shape(), ")");
  const Tensor value = readable(x, "item");
  push_element(L, value.raw(), value.dtype());
  return 1;
}

void push_list(lua_State* L, const Tensor& x, int dim, int64_t offset) {
  if (dim == x.ndim()) {
    const char* const first = static_cast<const char*>(x.raw());
    push_element(L, first + offset * int64_t(item_size(x.dtype())), x.dtype());
    return;
  }
  luaL_checkstack(L, 3, "tolist");
  lua_createtable(L, int(std::min<int64_t>(x.size(dim), 1 << 26)), 0);
  for (int64_t i = 0; i < x.size(dim); ++i) {
    if (i % 4096 == 0) context().check_stop();
    push_list(L, x, dim + 1, offset + i * x.strides()[dim]);
    lua_rawseti(L, -2, i + 1);
  }
}

int tolist(lua_State* L) {
  push_list(L, readable(check_tensor(L, 1, "tolist"), "tolist"), 0, 0);
  after_op(L);
  return 1;
}

int tostring(lua_State* L) {
  push_string(L, print_tensor(check_tensor(L, 1, "tostring"), print_options()));
  return 1;
}

// set_printoptions{precision =, threshold =, edgeitems =, linewidth =, sci_mode =, profile =}
int set_printoptions(lua_State* L) {
  if (!lua_istable(L, 1)) wrong_type(L, 1, "set_printoptions", "table of options");
  PrintOptions made = print_options();
  const auto count = [&](int value, Callee callee, int64_t least, int64_t most) {
    const int64_t given = check_integer(L, value, callee);
    if (given < least || given > most)
      fail("set_printoptions: ", callee.option, " must lie in ", least, " to ", most, " (got ", given, ")");
    return given;
  };
  const auto choose_profile = [&](std::string_view name) {
    made = {};
    if (name == "short") {
      made.precision = 2;
      made.edge_items = 2;
    } else if (name == "full") {
      made.threshold = INT64_MAX;
    } else if (name != "default") {
      fail("set_printoptions: profile must be 'default', 'short' or 'full' (got '", name, "')");
    }
  };
  lua_getfield(L, 1, "profile");  // read first: the other options override the profile
  if (!lua_isnil(L, -1)) choose_profile(check_string(L, -1, {"set_printoptions", "profile"}));
  lua_pop(L, 1);
  const char* const known = "precision, threshold, edgeitems, linewidth, sci_mode, profile";
  each_option(L, 1, "set_printoptions", known, [&](std::string_view name, int value, Callee callee) {
    if (name == "precision")
      made.precision = int(count(value, callee, 0, 60));
    else if (name == "threshold")
      made.threshold = lua_tonumber(L, value) == HUGE_VAL ? INT64_MAX : count(value, callee, 0, INT64_MAX);
    else if (name == "edgeitems")
      made.edge_items = count(value, callee, 1, 1 << 20);
    else if (name == "linewidth")
      made.line_width = int(count(value, callee, 41, 1 << 20));
    else if (name == "sci_mode")
      made.scientific = check_boolean(L, value, callee);
    else
      return name == "profile";
    return true;
  });
  print_options() = made;
  return 0;
}

int length(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "#");
  if (x.ndim() == 0) fail("#: a scalar tensor has no length");
  lua_pushinteger(L, x.size(0));
  return 1;
}

// Warns once per run when a script compares two tensors with ==, which probably should compare their
// elements.
void warn_of_identity(lua_State* L) {
  BindingState& state = binding_state(L);
  lua_Debug caller;
  if (!state.safe_point_data || !lua_getstack(L, 1, &caller)) return;
  lua_getinfo(L, "S", &caller);
  if (state.chunk(caller).library) return;
  SessionThread::of(L).warn_once(
      L,
      "== asks whether two tensors are the same one, and these are not; x:eq(y) compares their elements, "
      "x:equal(y) the whole, and rawequal(x, y) says that the same one is meant");
}

int equal_identity(lua_State* L) {
  const Tensor *const a = to_tensor(L, 1), *const b = to_tensor(L, 2);
  const bool same = a && b && a->same(*b);
  if (a && b && !same) warn_of_identity(L);
  lua_pushboolean(L, same);
  return 1;
}

// equal(a, b) -> boolean: whether the shapes and all elements are equal. NaN is not equal to NaN.
int equal(lua_State* L) {
  const Tensor &a = check_tensor(L, 1, "equal"), &b = check_tensor(L, 2, "equal");
  const NoGrad off;
  lua_pushboolean(L, a.shape() == b.shape() && all(eq(a, b)).item() != 0);
  return 1;
}

int is_tensor(lua_State* L) {
  lua_pushboolean(L, to_tensor(L, 1) != nullptr);
  return 1;
}

// --- casts and moves ---

// _dtype(name, function, argument): the engine's name of a dtype, which may be given by PyTorch's name.
// Throws an Error for that argument of the function when there is no such dtype.
int dtype_named(lua_State* L) {
  const std::string function(check_string(L, 2, "_dtype"));
  const int64_t place = check_integer(L, 3, "_dtype");
  lua_pushvalue(L, 1);
  if (place < 1 || place > lua_gettop(L)) bad_argument(L, 3, "_dtype", "no number of an argument");
  const int argument = int(place);
  lua_insert(L, argument);
  lua_pushstring(L, dtype_name(check_dtype(L, argument, function.c_str())));
  return 1;
}

int push_converted(lua_State* L, std::optional<DType> dtype, Device* device) {
  const Tensor x = *to_tensor(L, 1);
  mark_line(L);
  Tensor made = x;
  const auto move = [&] {
    if (!is_batched(made))
      made = to(made, *device);
    else if (&physical_device(made.device()) != device)
      made = make_batched(to(batch_value(made), *device), levels_of(made));
  };
  called_as("to", [&] {
    with_memory_retry(L, [&] {
      made = x;
      // The type of fewer bytes is moved. The other may exist only on the CPU.
      if (device && device->is_cpu() && dtype && item_size(*dtype) > item_size(x.dtype())) move();
      if (dtype) made = to(made, *dtype);
      if (device) move();
    });
  });
  if (made.same(x))
    lua_pushvalue(L, 1);
  else
    push_result(L, std::move(made));
  after_op(L);
  return 1;
}

// x:to(dtype), x:to(device), x:to(device, dtype), x:to{dtype =, device =}, x:to(other). PyTorch's
// non_blocking, in the table or after the others, has no effect. With copy, the result has its own memory.
int convert_to(lua_State* L) {
  check_tensor(L, 1, "to");
  if (lua_gettop(L) > 2 && lua_isboolean(L, lua_gettop(L))) lua_settop(L, lua_gettop(L) - 1);
  bool copy = false;
  std::optional<DType> dtype;
  Device* device = nullptr;
  const auto read_name = [&](int index) {
    const std::string_view name = check_string(L, index, "to");
    if (const auto type = dtype_from_name(name))
      dtype = *type;
    else if (name == "cpu" || name.starts_with("vulkan"))
      device = &require_device(name);
    else
      bad_argument(L, index, "to",
                   "'" + std::string(name) + "' is neither a dtype nor a device" +
                       (name.starts_with("cuda") ? "; a GPU is \"vulkan\"" : ""));
  };
  const int last = lua_gettop(L);
  const bool options = last > 1 && lua_istable(L, last);
  if (options)
    each_option(L, last, "to", "dtype, device, copy, non_blocking",
                [&](std::string_view name, int value, Callee callee) {
                  if (name == "dtype")
                    dtype = check_dtype(L, value, callee);
                  else if (name == "device")
                    device = &check_device(L, value, callee);
                  else if (name == "copy")
                    copy = check_boolean(L, value, callee);
                  else if (name == "non_blocking")
                    check_boolean(L, value, callee);
                  else
                    return false;
                  return true;
                });
  if (const Tensor* const other = to_tensor(L, 2)) {
    dtype = other->dtype();
    device = &other->device();
  } else if (!options || last > 2) {
    read_name(2);
    if (last > 3 || (last == 3 && !options && !lua_isnil(L, 3))) read_name(3);
  }
  if (copy && (!dtype || *dtype == to_tensor(L, 1)->dtype()) &&
      (!device || device == &to_tensor(L, 1)->device())) {
    push_result(L, clone(*to_tensor(L, 1)));
    after_op(L);
    return 1;
  }
  return push_converted(L, dtype, device);
}

int cpu(lua_State* L) {
  check_tensor(L, 1, "cpu");
  return push_converted(L, std::nullopt, &cpu_device());
}

template <DType type>
int cast(lua_State* L) {
  check_tensor(L, 1, dtype_name(type));
  return push_converted(L, type, nullptr);
}

// _as_strided(x, size, stride, offset, in_place): offset counts from the first element of the storage; nil
// means the offset of x.
int as_strided_view(lua_State* L) {
  const Tensor x = check_tensor(L, 1, "as_strided");
  const Shape size = check_integers(L, 2, 2, "as_strided");
  const Strides stride = check_integers(L, 3, 3, "as_strided");
  const int64_t first = lua_isnil(L, 4) ? x.offset() : check_integer(L, 4, "as_strided");
  // Its gradient is computed only as a view of contiguous elements.
  if (x.requires_grad() && context().grad_enabled) {
    int64_t last = first;
    for (int i = 0; i < std::min(size.size(), stride.size()); ++i) last += (size[i] - 1) * stride[i];
    if (!x.is_contiguous() || first < x.offset() || last >= x.offset() + x.numel())
      fail("as_strided: a gradient needs a contiguous input that has all elements of the result");
  }
  mark_line(L);
  if (lua_toboolean(L, 5)) {
    run_in_place(*find_op("_as_strided"), {x}, {Value(size), Value(stride), first - x.offset()});
    lua_settop(L, 1);
  } else {
    push_result(L, as_strided(x, size, stride, first - x.offset()));
  }
  after_op(L);
  return 1;
}

// --- writing ---

// In-place methods return argument 1, the same Lua value.
int returned_self(lua_State* L) {
  lua_settop(L, 1);
  after_op(L);
  return 1;
}

int copy_from(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "copy_");
  const Tensor value = check_operand(L, 2, "copy_");
  mark_line(L);
  called_as("copy_", [&] { with_memory_retry(L, [&] { copy_(x, value); }); });
  return returned_self(L);
}

int fill(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "fill_");
  const Tensor value = check_operand(L, 2, "fill_");
  if (value.ndim() != 0) fail("fill_: a number or a 0-d tensor expected (got shape ", value.shape(), ")");
  mark_line(L);
  called_as("fill_", [&] { with_memory_retry(L, [&] { copy_(x, value); }); });
  return returned_self(L);
}

int zero(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "zero_");
  mark_line(L);
  called_as("zero_", [&] { with_memory_retry(L, [&] { fill_(x, 0); }); });
  return returned_self(L);
}

// Lua converts the result of a comparison to one boolean, so a comparison cannot return a value for each
// element.
int refuse_order(lua_State*) {
  fail(
      "Tensor: <, <=, > and >= compare numbers, as x:item() of one element; x:lt(y), x:le(y), x:gt(y) and "
      "x:ge(y) compare "
      "elements");
}

int refuse_pairs(lua_State*) {
  fail("pairs: a tensor has no fields; rows: for i = 1, #x do local row = x[i] … end");
}

int refuse_text(lua_State*) { fail("Tensor: .. joins text; write x:item() or tostring(x)"); }

// __gc. Safe to call twice and with any argument: it leaves the tensor undefined.
int collect(lua_State* L) {
  if (Tensor* const x = to_tensor(L, 1)) *x = Tensor();
  return 0;
}

constexpr luaL_Reg kTensorMethods[] = {{"size", guard<size>},
                                       {"stride", guard<stride>},
                                       {"dim", guard<dim>},
                                       {"numel", guard<numel>},
                                       {"equal", guard<equal>},
                                       {"is_contiguous", guard<is_contiguous>},
                                       {"storage_offset", guard<storage_offset>},
                                       {"id", guard<id>},
                                       {"version", guard<version>},
                                       {"item", guard<item>},
                                       {"tolist", guard<tolist>},
                                       {"to", guard<convert_to>},
                                       {"cpu", guard<cpu>},
                                       {"float", guard<cast<DType::f32>>},
                                       {"double", guard<cast<DType::f64>>},
                                       {"half", guard<cast<DType::f16>>},
                                       {"bfloat16", guard<cast<DType::bf16>>},
                                       {"long", guard<cast<DType::i64>>},
                                       {"int", guard<cast<DType::i32>>},
                                       {"byte", guard<cast<DType::u8>>},
                                       {"bool", guard<cast<DType::boolean>>},
                                       {"copy_", guard<copy_from>},
                                       {"fill_", guard<fill>},
                                       {"zero_", guard<zero>},
                                       {nullptr, nullptr}};

constexpr luaL_Reg kEvents[] = {
    {"__gc", guard<collect>},         {"__len", guard<length>},         {"__eq", guard<equal_identity>},
    {"__tostring", guard<tostring>},  {"__lt", guard<refuse_order>},    {"__le", guard<refuse_order>},
    {"__concat", guard<refuse_text>}, {"__pairs", guard<refuse_pairs>}, {nullptr, nullptr}};

}  // namespace

void bind_tensor(lua_State* L, int core, int methods) {
  lua_pushvalue(L, methods);
  luaL_setfuncs(L, kTensorMethods, 0);
  lua_pop(L, 1);
  lua_pushcfunction(L, guard<is_tensor>);
  lua_setfield(L, core, "is_tensor");
  lua_pushcfunction(L, guard<dtype_named>);
  lua_setfield(L, core, "_dtype");
  lua_newtable(L);  // PyTorch's names of the dtypes -> the engine's
  for (const auto& [name, dtype] : torch_dtypes()) {
    push_string(L, name);
    lua_pushstring(L, dtype_name(dtype));
    lua_rawset(L, -3);
  }
  lua_setfield(L, core, "_dtypes");
  lua_pushcfunction(L, guard<equal>);
  lua_setfield(L, core, "equal");
  lua_pushcfunction(L, guard<as_strided_view>);
  lua_setfield(L, core, "_as_strided");
  lua_pushcfunction(L, guard<set_printoptions>);
  lua_setfield(L, core, "set_printoptions");
  lua_pushvalue(L, methods);
  lua_setfield(L, core, "methods");

  BindingState& state = binding_state(L);
  lua_newtable(L);
  luaL_setfuncs(L, kEvents, 0);
  set_field_events(L, methods);
  lua_pushliteral(L, "Tensor");
  lua_setfield(L, -2, "__name");
  lua_pushliteral(L, "Tensor");
  lua_setfield(L, -2, "__metatable");
  state.tensor_metatable = luaL_ref(L, LUA_REGISTRYINDEX);
}

}  // namespace lunagrad
