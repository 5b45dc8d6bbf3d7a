#pragma once
// Lua functions that the engine calls: hooks, gradients of custom ops, functions of checkpoints. The registry
// keeps them while the engine needs them. They run in protected mode on the main thread (coroutine) of the
// state. A Lua error in one becomes an Error of the engine, and then a Lua error with both source lines.
// Private to script/; for the state's thread.
#include <functional>
#include <lua.hpp>
#include <memory>
#include <utility>

#include "runtime/core/error.h"
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

// Passes a C++ object to a C function that its caller runs in protected mode. It is not passed as a Lua
// value: a script can reach running functions (debug.getinfo), keep them, and call them later with its own
// values.
template <class T>
class Passed {
 public:
  explicit Passed(T& object) : outer_(std::exchange(current_, &object)) {}
  ~Passed() { current_ = outer_; }
  Passed(const Passed&) = delete;

  // The object of the innermost call; an Error outside of all calls.
  static T& get() {
    if (!current_) fail("this function of the engine cannot be called by a script");
    return *current_;
  }
  // get(), which then fails until this call ends.
  static T& take() {
    T& object = get();
    current_ = nullptr;
    return object;
  }

 private:
  static thread_local inline T* current_ = nullptr;
  T* const outer_;
};

}  // namespace lunagrad
