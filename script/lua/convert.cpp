#include "script/lua/convert.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/dtype_names.h"
#include "script/lua/binding_state.h"
#include "script/lua/garbage.h"

namespace lunagrad {
namespace {

// The content of a Tensor's userdata. The mark identifies it without a look at its metatable.
struct Handle {
  Tensor tensor;
  const void* mark;
};
const char kMark = 0;

}  // namespace

void push_tensor(lua_State* L, Tensor x) {
  if (!x.defined()) return lua_pushnil(L);
  const BindingState& state = binding_state(L);
  void* const memory = lua_newuserdatauv(L, sizeof(Handle), 0);
  new (memory) Handle{std::move(x), &kMark};
  lua_rawgeti(L, LUA_REGISTRYINDEX, state.tensor_metatable);
  lua_setmetatable(L, -2);
}

void push_result(lua_State* L, Tensor x) {
  // A view's memory counts only if nothing else holds it: an op composed of others may end with a view.
  const bool alone = x.defined() && (!x.body()->base || x.body()->base->use_count() == 1);
  const size_t bytes = alone ? std::min(x.nbytes(), x.storage().bytes) : 0;
  push_tensor(L, std::move(x));
  add_pressure(L, bytes);
}

Tensor* to_tensor(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || lua_rawlen(L, index) != sizeof(Handle)) return nullptr;
  Handle* const handle = static_cast<Handle*>(lua_touserdata(L, index));
  if (handle->mark != &kMark) return nullptr;
  // Another object's finalizer may still see a finalized userdata: it holds an undefined tensor.
  return handle->tensor.defined() ? &handle->tensor : nullptr;
}

const char* type_name(lua_State* L, int index) {
  if (to_tensor(L, index)) return "Tensor";
  // An object of a class: the metatable has its name.
  if (lua_istable(L, index) && luaL_getmetafield(L, index, "__name") != LUA_TNIL) {
    const char* const name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : nullptr;
    lua_pop(L, 1);
    if (name) return name;
  }
  return luaL_typename(L, index);
}

void bad_argument(lua_State* L, int argument, Callee callee, const std::string& fact) {
  if (callee.option) fail("bad option '", callee.option, "' to '", callee.function, "' (", fact, ")");
  lua_Debug frame;
  if (lua_getstack(L, 0, &frame)) {
    lua_getinfo(L, "n", &frame);
    if (std::strcmp(frame.namewhat, "method") == 0 && --argument == 0)
      fail("calling '", callee.function, "' on bad self (", fact, ")");
  }
  fail("bad argument #", argument, " to '", callee.function, "' (", fact, ")");
}

void wrong_type(lua_State* L, int argument, Callee callee, const char* what) {
  bad_argument(L, argument, callee, std::string(what) + " expected, got " + type_name(L, argument));
}

void check_callable(lua_State* L, int argument, Callee callee) {
  if (lua_isfunction(L, argument)) return;
  if (luaL_getmetafield(L, argument, "__call") == LUA_TNIL) wrong_type(L, argument, callee, "function");
  lua_pop(L, 1);
}

const Tensor& check_tensor(lua_State* L, int argument, Callee callee) {
  const Tensor* const x = to_tensor(L, argument);
  if (!x) wrong_type(L, argument, callee, "Tensor");
  return *x;
}

Tensor check_operand(lua_State* L, int argument, Callee callee) {
  switch (lua_type(L, argument)) {
    case LUA_TNUMBER:
      return lua_isinteger(L, argument) ? Tensor::number(int64_t(lua_tointeger(L, argument)))
                                        : Tensor::number(lua_tonumber(L, argument));
    case LUA_TBOOLEAN:
      return Tensor::number(int64_t(lua_toboolean(L, argument)));
    default:
      if (const Tensor* const x = to_tensor(L, argument)) return *x;
      wrong_type(L, argument, callee, "Tensor or number");
  }
}

int64_t list_length(lua_State* L, int index, int argument, Callee callee) {
  if (luaL_getmetafield(L, index, "__len") != LUA_TNIL)
    bad_argument(L, argument, callee, "plain table expected, got one with a metatable that has __len");
  return int64_t(lua_rawlen(L, index));
}

TensorList check_tensors(lua_State* L, int argument, Callee callee) {
  if (const Tensor* const x = to_tensor(L, argument)) return {*x};
  if (lua_type(L, argument) != LUA_TTABLE) wrong_type(L, argument, callee, "table of Tensors");
  TensorList list;
  const int64_t count = list_length(L, argument, argument, callee);
  for (int64_t i = 1; i <= count; ++i) {
    lua_rawgeti(L, argument, i);
    const Tensor* const x = to_tensor(L, -1);
    if (!x)
      bad_argument(L, argument, callee,
                   "table of Tensors expected, got " + std::string(type_name(L, -1)) + " at [" +
                       std::to_string(i) + "]");
    list.push_back(*x);
    lua_pop(L, 1);
  }
  return list;
}

void check_table(lua_State* L, int argument, Callee callee) {
  if (!lua_istable(L, argument)) wrong_type(L, argument, callee, "table");
}

bool check_boolean(lua_State* L, int argument, Callee callee) {
  if (!lua_isboolean(L, argument)) wrong_type(L, argument, callee, "boolean");
  return lua_toboolean(L, argument);
}

int64_t check_integer(lua_State* L, int argument, Callee callee) {
  int exact = 0;
  const lua_Integer value = lua_tointegerx(L, argument, &exact);
  if (lua_type(L, argument) != LUA_TNUMBER) wrong_type(L, argument, callee, "integer");
  if (!exact) bad_argument(L, argument, callee, "number has no integer representation");
  return value;
}

double check_number(lua_State* L, int argument, Callee callee) {
  if (lua_type(L, argument) != LUA_TNUMBER) wrong_type(L, argument, callee, "number");
  return lua_tonumber(L, argument);
}

std::string_view check_string(lua_State* L, int argument, Callee callee) {
  if (lua_type(L, argument) != LUA_TSTRING) wrong_type(L, argument, callee, "string");
  size_t length;
  const char* const text = lua_tolstring(L, argument, &length);
  return {text, length};
}

DType check_dtype(lua_State* L, int argument, Callee callee) {
  const std::string_view name = check_string(L, argument, callee);
  if (const auto dtype = dtype_from_name(name)) return *dtype;
  std::string known;
  for (int i = 0; i < kDTypeCount; ++i) known += std::string(i ? ", " : "") + dtype_name(DType(i));
  bad_argument(L, argument, callee, "unknown dtype '" + std::string(name) + "'; there are " + known);
}

Guard check_guard(lua_State* L, int argument, const char* function) {
  if (lua_isboolean(L, argument)) return lua_toboolean(L, argument) ? Guard::op : Guard::off;
  const std::string_view level = check_string(L, argument, function);
  if (level == "off") return Guard::off;
  if (level == "step") return Guard::step;
  if (level == "op") return Guard::op;
  bad_argument(L, argument, function,
               "one of 'off', 'step', 'op' expected, got '" + std::string(level) + "'");
}

Device& check_device(lua_State* L, int argument, Callee callee) {
  return require_device(check_string(L, argument, callee));
}

namespace {

int64_t from_position(lua_State* L, int64_t position, int argument, Callee callee) {
  if (position == 0)
    bad_argument(L, argument, callee, "positions count from 1, or from -1 at the end; got 0");
  return position > 0 ? position - 1 : position;
}

// The integers of the table or of the arguments, each passed through `convert`.
template <class F>
Dims read_integers(lua_State* L, int argument, int last, Callee callee, F&& convert) {
  Dims dims;
  const auto append = [&](int64_t value) {
    if (dims.size() == kMaxDims)
      bad_argument(L, argument, callee, "at most " + std::to_string(kMaxDims) + " numbers expected");
    dims.push_back(convert(value));
  };
  if (lua_type(L, argument) != LUA_TTABLE) {
    if (argument > last || lua_type(L, argument) != LUA_TNUMBER)
      wrong_type(L, argument, callee, "integers or a table of integers");
    for (int i = argument; i <= last; ++i) append(check_integer(L, i, callee));
    return dims;
  }
  const int64_t count = list_length(L, argument, argument, callee);
  for (int64_t i = 1; i <= count; ++i) {
    lua_rawgeti(L, argument, i);
    int exact = 0;
    const int64_t value = lua_tointegerx(L, -1, &exact);
    if (!exact || lua_type(L, -1) != LUA_TNUMBER)
      bad_argument(L, argument, callee,
                   "table of integers expected, got " + std::string(type_name(L, -1)) + " at [" +
                       std::to_string(i) + "]");
    lua_pop(L, 1);
    append(value);
  }
  return dims;
}

}  // namespace

int64_t check_position(lua_State* L, int argument, Callee callee) {
  return from_position(L, check_integer(L, argument, callee), argument, callee);
}

Dims check_integers(lua_State* L, int argument, int last, Callee callee) {
  return read_integers(L, argument, last, callee, [](int64_t value) { return value; });
}

Dims check_positions(lua_State* L, int argument, int last, Callee callee) {
  return read_integers(L, argument, last, callee,
                       [&](int64_t value) { return from_position(L, value, argument, callee); });
}

bool is_options(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TTABLE) return false;
  index = lua_absindex(L, index);
  lua_pushnil(L);
  if (!lua_next(L, index)) return false;
  const bool named = lua_type(L, -2) == LUA_TSTRING;
  lua_pop(L, 2);
  return named;
}

void unknown_option(std::string_view name, const char* function, std::string_view known) {
  if (known.empty()) fail(function, ": unknown option '", name, "'; it takes none");
  fail(function, ": unknown option '", name, "'; there are ", known);
}

void push_element(lua_State* L, const void* element, DType dtype) {
  visit_any_dtype(dtype, [&]<class T>() {
    const T value = *static_cast<const T*>(element);
    if constexpr (is_complex_v<T>) {
      lua_createtable(L, 2, 0);
      lua_pushnumber(L, double(value.real()));
      lua_rawseti(L, -2, 1);
      lua_pushnumber(L, double(value.imag()));
      lua_rawseti(L, -2, 2);
    } else if constexpr (std::is_same_v<T, bool>)
      lua_pushboolean(L, value);
    else if constexpr (std::is_integral_v<T>)
      lua_pushinteger(L, lua_Integer(value));
    else
      lua_pushnumber(L, convert<double>(value));
  });
}

}  // namespace lunagrad
