#pragma once
// Lua functions that the engine calls: hooks, gradients of custom ops, functions of checkpoints. They are
// kept in the registry while the engine needs them, and run in protected mode on the state's main thread. An
// error in one becomes an Error of the engine, and then one Lua error with both source lines. Private to
// script/.
#include <functional>
#include <lua.hpp>
#include <memory>

#include "runtime/tensor.h"

namespace lunagrad {

struct Edge;

class LuaFunction {
 public:
  LuaFunction(lua_State*, int index);
  ~LuaFunction();
  LuaFunction(const LuaFunction&) = delete;

  void push(lua_State*) const;
  int reference() const { return reference_; }
  // Runs `body` on the main thread of the state; what it leaves on the stack is removed. `what` stands before
  // the message of an error, "" for nothing. Error when the state is closed.
  void protect(const char* what, const std::function<void(lua_State*)>& body) const;
  // Calls the value with the tensors; its results are tensors or nil.
  TensorList call(const TensorList& arguments, const char* what) const;

 private:
  std::shared_ptr<Edge*> state_;
  int reference_;
};

}  // namespace lunagrad
