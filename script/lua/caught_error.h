#pragma once
// A caught exception, copied without allocating, so that it can become a Lua error after its catch block. Any
// thread.
#include <exception>

#include "runtime/core/error.h"

namespace lunagrad {

struct CaughtError {
  char message[2000];
  ErrorKind kind = ErrorKind::value;
  void copy(const std::exception&) noexcept;
};

}  // namespace lunagrad
