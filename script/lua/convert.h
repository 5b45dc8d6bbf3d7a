#pragma once
// Converts values between Lua and C++: tensors (userdata), numbers, shapes, dtypes and devices. Indices and
// dims count from 1 in Lua and from 0 in C++; they are converted here. A wrong argument is an Error in Lua's
// wording: "bad argument #2 to 'add' (Tensor expected, got number)".
#include <cstdint>
#include <lua.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/core/op.h"
#include "runtime/core/tensor.h"

namespace lunagrad {

// The called function, for an Error about a wrong argument. `option` is set when the value comes from an
// options table.
struct Callee {
  const char* function;
  const char* option = nullptr;
  Callee(const char* function_name, const char* option_name = nullptr)
      : function(function_name), option(option_name) {}
};

// Pushes a new userdata that holds the tensor; nil for an undefined one.
void push_tensor(lua_State*, Tensor);
// push_tensor for a new tensor: also reports its bytes to Lua's garbage collector.
void push_result(lua_State*, Tensor);
// The tensor at a stack index, null for any other value. Valid while the value is on the stack.
Tensor* to_tensor(lua_State*, int index);
// to_tensor, but throws an Error that names the argument.
const Tensor& check_tensor(lua_State*, int argument, Callee);
// A tensor, or a Lua number or boolean as a 0-d operand.
Tensor check_operand(lua_State*, int argument, Callee);
// A table of tensors, or one tensor.
TensorList check_tensors(lua_State*, int argument, Callee);

void check_table(lua_State*, int argument, Callee);
bool check_boolean(lua_State*, int argument, Callee);
int64_t check_integer(lua_State*, int argument, Callee);
// The number of entries of the table at `index`, which is `argument` or lies in it. Error when the table has
// a length of its own (__len), which may differ from its entries.
int64_t list_length(lua_State*, int index, int argument, Callee);
double check_number(lua_State*, int argument, Callee);
std::string_view check_string(lua_State*, int argument, Callee);
DType check_dtype(lua_State*, int argument, Callee);
Device& check_device(lua_State*, int argument, Callee);
// "off", "step", "op", or a boolean (true: "op").
Guard check_guard(lua_State*, int argument, const char* function);
// Converts a position 1…n or -1…-n to 0…n-1 or -1…-n. 0 is an error.
int64_t check_position(lua_State*, int argument, Callee);
// Integers: a table, or plain arguments from `argument` to `last`.
Dims check_integers(lua_State*, int argument, int last, Callee);
// check_integers for positions.
Dims check_positions(lua_State*, int argument, int last, Callee);

// Error "bad argument #n to 'function' (fact)", or "bad option 'name' to 'function' (fact)". In a method call
// n does not count self, as in Lua's own messages.
[[noreturn]] void bad_argument(lua_State*, int argument, Callee, const std::string& fact);
// bad_argument with the fact "<what> expected, got <type>".
[[noreturn]] void wrong_type(lua_State*, int argument, Callee, const char* what);
// Error unless the value is a function or has a __call metamethod, as modules do.
void check_callable(lua_State*, int argument, Callee);
// "Tensor", "number", "no value", …
const char* type_name(lua_State*, int index);

[[noreturn]] void unknown_option(std::string_view name, const char* function, std::string_view known);

// Whether the value is an options table: its first key is a string. A table with integer keys, or an empty
// one, is a shape or a list.
bool is_options(lua_State*, int index);
// Calls visit(name, value, callee) for each entry of the options table at `index`; value is a stack index.
// visit returns whether it knows the name. An unknown name is an Error that lists the `known` names.
template <class F>
void each_option(lua_State* L, int index, const char* function, std::string_view known, F&& visit) {
  index = lua_absindex(L, index);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) bad_argument(L, index, function, "option names must be strings");
    const char* const name = lua_tostring(L, -2);
    if (!visit(std::string_view(name), lua_gettop(L), Callee(function, name)))
      unknown_option(name, function, known);
  }
}

// Pushes one element as a Lua number or boolean; a complex element as a table {real, imaginary}.
void push_element(lua_State*, const void* element, DType);
inline void push_string(lua_State* L, std::string_view text) { lua_pushlstring(L, text.data(), text.size()); }

// A boolean, number or string as a value of a class that has them in a std::variant; none for other types.
template <class Value>
std::optional<Value> plain_value(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
      return Value{bool(lua_toboolean(L, index))};
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) return Value{int64_t(lua_tointeger(L, index))};
      return Value{double(lua_tonumber(L, index))};
    case LUA_TSTRING: {
      size_t size = 0;
      const char* const bytes = lua_tolstring(L, index, &size);
      return Value{std::string(bytes, size)};
    }
    default:
      return std::nullopt;
  }
}

// Pushes nil, a boolean, a number or a string: the base of visitors of a std::variant.
struct PlainPusher {
  lua_State* L;

  void operator()(std::monostate) const { lua_pushnil(L); }
  void operator()(bool value) const { lua_pushboolean(L, value); }
  void operator()(int64_t value) const { lua_pushinteger(L, lua_Integer(value)); }
  void operator()(double value) const { lua_pushnumber(L, value); }
  void operator()(const std::string& value) const { push_string(L, value); }
};

}  // namespace lunagrad
