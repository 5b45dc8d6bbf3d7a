#pragma once
// The name of the composed op that a script called, while its inner ops run. Error texts begin with this
// name: "softmin: softmax: a floating type is needed". Each thread has its own.
#include <string>

#include "runtime/core/op.h"

namespace lunagrad {

// The name of the outermost composed op that this thread computes, or null.
const char* called_op();
// The error text with the op's name in front, unless the text begins with it.
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

[[noreturn]] void rethrow_with_name(const char* op, const Error&);  // call it in a catch block

// Runs f() under this op name, unless it runs within a composed op already. Errors about values get the name.
// null: only runs f().
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
