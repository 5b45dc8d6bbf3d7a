#pragma once
// Protected calls of a script: the message, the place and the traceback of a failure. For the state's thread.
#include <lua.hpp>
#include <string>

#include "runtime/core/error.h"
#include "runtime/core/tensor.h"

namespace lunagrad {

// How a protected call failed.
struct ScriptError {
  std::string message;  // "train.lua:12: matmul: …"
  // One line per frame, the innermost first; the last line names the frames of the bundled library.
  std::string traceback;
  std::string file;  // file of the error; "" when unknown
  int line = 0;
  ErrorKind kind = ErrorKind::value;  // of the engine's Error that caused the failure
  // The op whose call failed, as find_op() knows it, and the first tensors that it was called with; "": the
  // error comes from something else.
  std::string op;
  TensorList operands;
};
// Like lua_pcall: calls the function below `arguments` values; returns the status. On LUA_OK the results are
// on the stack. Otherwise the function and its arguments are removed and `error` is filled.
int traceback_call(lua_State*, int arguments, int results, ScriptError& error);
// The message at the top of the stack with every hint appended, as traceback_call returns it.
std::string advised_message(lua_State*);

}  // namespace lunagrad
