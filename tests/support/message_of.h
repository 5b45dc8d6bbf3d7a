#pragma once
// The message of a call that fails.
#include <functional>
#include <string>

#include "runtime/core/error.h"

namespace lunagrad::tests {

inline std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The same, or "".
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace lunagrad::tests
