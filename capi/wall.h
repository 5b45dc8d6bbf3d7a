#pragma once
// The wall around every function of the C library: what is thrown inside becomes a code and the message of
// the thread. A Fault is a mistake of the host that the C library itself finds; the engine throws Error. Any
// thread.
#include <string>
#include <utility>

#include "capi/lunagrad.h"
#include "runtime/core/error.h"

namespace lunagrad::capi {

struct Fault {
  lg_code code;
  std::string message;
};

template <class... Parts>
[[noreturn, gnu::cold]] void refuse(lg_code code, const Parts&... parts) {
  throw Fault{code, text(parts...)};
}

// The code of the exception that is being handled. Keeps its message for lg_last_error(). Call it in a catch
// block.
lg_code caught() noexcept;
// The message of the thread's latest failure; "" when there was none.
const char* last_message() noexcept;
void forget_message() noexcept;  // from here on there was none

// Runs f and returns LG_OK, or the code of what it throws.
template <class F>
lg_code wall(F&& f) noexcept {
  try {
    std::forward<F>(f)();
    return LG_OK;
  } catch (...) {
    return caught();
  }
}

// Error unless a pointer that an argument must have is there.
inline void require(const void* pointer, const char* name) {
  if (!pointer) [[unlikely]]
    refuse(LG_INVALID_ARGUMENT, name, " is null");
}

}  // namespace lunagrad::capi
