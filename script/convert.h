#pragma once
// Values across the Lua edge: tensors as userdata, numbers, shapes, element types and devices from arguments, and
// back. Positions are converted here: from 1 in Lua, from 0 in C++. An unfit argument is an Error in Lua's grammar:
// "bad argument #2 to 'add' (Tensor expected, got number)".
#include <cstdint>
#include <lua.hpp>
#include <optional>
#include <string_view>

#include "runtime/op.h"
#include "runtime/tensor.h"

namespace lunagrad {

// Pushes a new userdata that holds the tensor; nil for an undefined one.
void push_tensor(lua_State*, Tensor);
// The tensor at a stack index, null when there is something else. Valid while the value is on the stack.
Tensor* to_tensor(lua_State*, int index);
// The same, or an Error that names the argument.
const Tensor& check_tensor(lua_State*, int argument, const char* function);
// A tensor, or a Lua number as a 0-d operand.
Tensor check_operand(lua_State*, int argument, const char* function);

int64_t check_integer(lua_State*, int argument, const char* function);
double check_number(lua_State*, int argument, const char* function);
std::string_view check_string(lua_State*, int argument, const char* function);
DType check_dtype(lua_State*, int argument, const char* function);
Device& check_device(lua_State*, int argument, const char* function);
// A position 1…n or -1…-n as 0…n-1 or -1…-n; 0 is an error.
int64_t check_position(lua_State*, int argument, const char* function);
// Integers as a table or as plain arguments from `argument` to `last`.
Dims check_dims(lua_State*, int argument, int last, const char* function);

// Error "bad argument #n to 'function' (fact)"; n counts without self in a method call.
[[noreturn]] void bad_argument(lua_State*, int argument, const char* function, const std::string& fact);
// The same with the fact "what expected, got <type>".
[[noreturn]] void wrong_type(lua_State*, int argument, const char* function, const char* what);
// "Tensor", "number", "no value", …
const char* type_name(lua_State*, int index);

// A table with string keys is options; one with integer keys, or none, is a shape or a list.
bool is_options(lua_State*, int index);

void push_dims(lua_State*, const Dims&);
// One element of a CPU tensor as a Lua number or boolean.
void push_element(lua_State*, const void* element, DType);

}  // namespace lunagrad
