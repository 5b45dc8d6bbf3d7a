#pragma once
// Functions of lunagrad.core that lua/lunagrad/surgery calls: the operands of a module's latest call, the bits
// of a tensor, and the variables of the script. Private to script/bind; for the state's thread.
#include <array>
#include <lua.hpp>

#include "runtime/tensor.h"

namespace lunagrad {

// The tensors that a module got, or gave, in a call: their layouts and types, not their values.
struct SeenOperands {
  struct Operand {
    LayoutRef layout;  // null: no tensor
    DType dtype = DType::f32;
    Device* device = nullptr;
  };
  static constexpr int kMost = 4;  // of further ones only the number is kept
  std::array<Operand, kMost> operands;
  int count = 0;

  // The values from stack index `first` up to the top.
  void note(lua_State*, int first);
};

// Keeps the operands of the latest call in the module at `module`, a table, under `_seen`.
void keep_seen(lua_State*, int module, SeenOperands inputs, SeenOperands outputs);

void bind_surgery(lua_State*, int core);

}  // namespace lunagrad
