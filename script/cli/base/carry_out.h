#pragma once
// Runs a command of the program and returns its exit code. An Error is printed on standard error and returns
// the exit code of its kind; a UsageError returns the exit code for wrong usage. For the main thread.
#include <iostream>

#include "runtime/core/error.h"
#include "script/run/params.h"
#include "script/view/run.h"

namespace lunagrad {

// `otherwise`: the exit code of Errors of kinds other than file, memory and device.
template <class F>
int carry_out(const char* command, F&& run, Outcome otherwise = Outcome::error) {
  try {
    return run();
  } catch (const UsageError& error) {
    std::cerr << "lunagrad " << command << ": " << error.what() << "\n";
    return int(Outcome::usage);
  } catch (const Error& error) {
    std::cerr << "lunagrad " << command << ": " << error.what() << "\n";
    switch (error.kind()) {
      case ErrorKind::file:
        return int(Outcome::file);
      case ErrorKind::memory:
        return int(Outcome::memory);
      case ErrorKind::device:
        return int(Outcome::device);
      default:
        return int(otherwise);
    }
  }
}

}  // namespace lunagrad
