#pragma once
// A Lua value that outlives its Lua state: tensors, numbers, strings, booleans and tables of these. A reload
// uses it to hand states from one script to the next. Tensors are shared, not copied. Belongs to the
// session's thread.
#include <cstdint>
#include <lua.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad {

struct Kept {
  using Table = std::vector<std::pair<Kept, Kept>>;
  std::variant<std::monostate, bool, int64_t, double, std::string, Tensor, Table> value;
};

// Copies the value at a stack index; tables lose their metatables. Error when it holds a function, a
// coroutine or a userdata other than a tensor, or when tables nest more than 100 deep, as when a table
// contains itself.
Kept keep(lua_State*, int index);
void push_kept(lua_State*, const Kept&);

}  // namespace lunagrad
