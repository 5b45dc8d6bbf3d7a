#pragma once
// Errors of in-place methods name the method that the script called (fill_), not the op that computes it
// (_copy_). Private to script/; for the state's thread.
#include <cctype>
#include <string>
#include <typeinfo>

#include "runtime/core/error.h"

namespace lunagrad {

// Runs f. In the message "op: fact" of an Error, replaces the op by `name`. Errors of derived classes pass
// unchanged: they report a device's fault in an earlier call.
template <class F>
void called_as(const char* name, F&& f) {
  try {
    f();
  } catch (const Error& error) {
    if (typeid(error) != typeid(Error)) throw;
    const std::string message = error.what();
    size_t end = 0;
    while (end < message.size() &&
           (std::isalnum(static_cast<unsigned char>(message[end])) || message[end] == '_'))
      ++end;
    if (end == 0 || message.compare(end, 2, ": ") != 0) throw;
    throw Error(name + message.substr(end), error.kind());
  }
}

}  // namespace lunagrad
