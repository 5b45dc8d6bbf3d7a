#pragma once
// How a command of the program ends: with the code it returns, or for an Error with a line on standard error
// and the exit code of its kind.
#include <iostream>

#include "runtime/error.h"
#include "script/session.h"

namespace lunagrad {

// `otherwise`: the exit code of an Error that is of neither kind, file nor memory.
template <class F>
int carry_out(const char* command, F&& run, Outcome otherwise = Outcome::error) {
  try {
    return run();
  } catch (const Error& error) {
    std::cerr << "lunagrad " << command << ": " << error.what() << "\n";
    switch (error.kind()) {
      case ErrorKind::file:
        return int(Outcome::file);
      case ErrorKind::memory:
        return int(Outcome::memory);
      default:
        return int(otherwise);
    }
  }
}

}  // namespace lunagrad
