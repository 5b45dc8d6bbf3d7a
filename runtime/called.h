#pragma once
// The op that a script called, while the ops that it is composed of run. Their errors begin with its name:
// "softmin: softmax: a floating type is needed". Each thread has its own.
#include <string>

#include "runtime/op.h"

namespace lunagrad {

// The name of the outermost composed op that this thread computes; null: none.
const char* called_op();
// The text of an error with the name of the op in front, unless it begins with it.
std::string with_name(const char* op, const std::string& message);

// While it lives, called_op() is this name.
class Called {
 public:
  explicit Called(const char* op);
  ~Called();
  Called(const Called&) = delete;
  void become(const char* op);

 private:
  const char* const outer_;
};

[[noreturn]] void rethrow_with_name(const char* op, const Error&);  // in a handler

// Runs f() as a part of the op of this name, unless it is part of one already. Errors about values get the
// name. null: only runs it.
template <class F>
auto run_called(const char* op, F&& f) {
  if (called_op() || !op) return f();
  try {
    const Called as(op);
    return f();
  } catch (const Error& error) {
    rethrow_with_name(op, error);
  }
}

Operands compose(const Call&);  // runs the compose() of the call's op

}  // namespace lunagrad
