#pragma once
// The message of a call that fails; another text if it does not.
#include <functional>
#include <string>

#include "runtime/core/error.h"

namespace lunagrad::tests {

inline std::string message_of(const std::function<void()>& f, const std::string& without = "no error") {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return without;
}

// The same, or "".
inline std::string error_of(const std::function<void()>& f) { return message_of(f, ""); }

}  // namespace lunagrad::tests
