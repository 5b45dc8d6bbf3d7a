#pragma once
// Where a run stands still, and why: one position, which the session decides and all parts of a viewer show.
// A plain value; any thread may hold a copy.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "script/view/source_place.h"

namespace lunagrad {

struct PausePosition {
  enum class Reason {
    request,     // a viewer asked for the pause, or the script called lg.run.breakpoint
    op,          // a single step of one operation has ended
    line,        // a single step of one line
    step,        // a single step of lg.run.steps
    breakpoint,  // a condition was met
    not_finite,  // an op made a NaN or an Inf
    error        // an error ended the run
  } reason = Reason::request;
  int64_t step = 0;   // the step that the run is in, or at whose end it is; 0: outside of steps
  SourcePlace place;  // the line of the op or of the error; without them the line that the script has reached
  std::string op;     // the public name; "": no op
  std::string called_as;  // the function that the script called, if it consists of several ops; else ""
  bool backward = false;  // the op's gradient is computed
  uint64_t node = 0;      // id on the tape; 0: the tape does not show the op
  std::string summary;    // the condition that was met, or the error's message: one line
  struct Value {
    std::string name, text;  // "input", "f32 [2, 3] from -1 to 4, mean 1.5, 2 NaN"
  };
  std::vector<Value> operands, results;
  int64_t good_step = -1;  // of an error: the step after which the run can go on; -1: it starts over
};
using PausePtr = std::shared_ptr<const PausePosition>;

}  // namespace lunagrad
