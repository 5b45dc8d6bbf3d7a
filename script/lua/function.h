#pragma once
// Lua functions that the engine calls: hooks, gradients of custom ops, functions of checkpoints. The registry
// keeps them while the engine needs them. They run in protected mode on the main thread (coroutine) of the
// state. A Lua error in one becomes an Error of the engine, and then a Lua error with both source lines.
// Private to script/; for the state's thread.
#include <functional>
#include <lua.hpp>
#include <memory>

#include "runtime/core/tensor.h"

namespace lunagrad {

struct BindingState;

class LuaFunction {
 public:
  // `role` says what the function is for, where a user asks what the engine keeps.
  LuaFunction(lua_State*, int index, const char* role = "a value that the engine keeps");
  ~LuaFunction();
  LuaFunction(const LuaFunction&) = delete;

  void push(lua_State*) const;
  int reference() const { return reference_; }
  // Runs `body` on the main thread of the state in protected mode and restores the stack. A Lua error in it
  // becomes an Error; its message begins with `what`, unless that is "". Error when the state is closed.
  void protect(const char* what, const std::function<void(lua_State*)>& body) const;
  // Calls the function with the tensors. It must return tensors or nil, which becomes an undefined tensor.
  TensorList call(const TensorList& arguments, const char* what) const;

 private:
  std::shared_ptr<BindingState*> state_;
  int reference_;
};

}  // namespace lunagrad
