#pragma once
// The operands of a module's latest call, which every call of a module notes. Private to script/; for the
// state's thread.
#include <array>
#include <lua.hpp>

#include "runtime/core/tensor.h"

namespace lunagrad {

// The shapes of the tensors that a module got and returned in its latest completed call; a script may be
// paused inside a later call. It is stored in the module's field `_seen`.
class SeenCall {
 public:
  struct Operand {
    bool tensor = false;
    DType dtype = DType::f32;
    Shape shape;
    Device* device = nullptr;
  };
  static constexpr int kMost = 3;  // further operands are only counted
  struct Operands {
    std::array<Operand, kMost> operands;
    int count = 0;
  };

  // Pushes the userdata that holds the SeenCall of the module, a table at stack index `module`, and makes it
  // when there is none. A module may lose it during a call, so keep it on the stack.
  static SeenCall& push(lua_State*, int module);
  static SeenCall* in(lua_State*, int module);  // null when the module has none
  // Begins a call with the arguments from stack index `first` to the top. Returns the call's number.
  uint32_t begin(lua_State*, int first);
  // Ends the call of that number, with the results from `first` on. Does nothing if the module was called
  // again since.
  void end(lua_State*, uint32_t number, int first);

  const Operands& inputs() const { return inputs_[latest_]; }
  const Operands& outputs() const { return outputs_; }

 private:
  const void* mark_;  // marks the type: a script may put any value into the field
  uint32_t number_ = 0;
  std::array<Operands, 2> inputs_;  // of the latest completed call, and of a call in progress
  uint32_t latest_ = 0;
  Operands outputs_;

  explicit SeenCall(const void* mark) : mark_(mark) {}
  static SeenCall* at_top(lua_State*);  // null for any other value
};

}  // namespace lunagrad
