#pragma once
// Functions of lunagrad.core that lua/lunagrad/surgery calls: the operands of a module's latest call, the
// bits of a tensor, and the variables of the script. Private to script/; for the thread of the state.
#include <array>
#include <lua.hpp>

#include "runtime/tensor.h"

namespace lunagrad {

// The shapes of the tensors that a module got and gave in its latest call that ended: a script may be paused
// inside the next one. It lies in the module's field `_seen`.
class SeenCall {
 public:
  struct Operand {
    bool tensor = false;
    DType dtype = DType::f32;
    Shape shape;
    Device* device = nullptr;
  };
  static constexpr int kMost = 3;  // of further ones only the number is kept
  struct Operands {
    std::array<Operand, kMost> operands;
    int count = 0;
  };

  // Pushes the userdata that holds it, which the module at stack index `module`, a table, may lose during a
  // call; made when it has none.
  static SeenCall& push(lua_State*, int module);
  static SeenCall* in(lua_State*, int module);  // null when it has none
  // A call begins with the arguments from stack index `first` up to the top. Returns its number.
  uint32_t begin(lua_State*, int first);
  // The call of that number ends with the results from `first` on. One that the module was called in since is
  // the latest.
  void end(lua_State*, uint32_t number, int first);

  const Operands& inputs() const { return inputs_[latest_]; }
  const Operands& outputs() const { return outputs_; }

 private:
  const void* mark_;  // of the type: a script may put anything into the field
  uint32_t number_ = 0;
  std::array<Operands, 2> inputs_;  // of the latest call, and of one that is going on
  uint32_t latest_ = 0;
  Operands outputs_;

  explicit SeenCall(const void* mark) : mark_(mark) {}
  static SeenCall* at_top(lua_State*);  // null for any other value
};

void bind_surgery(lua_State*, int core);

}  // namespace lunagrad
