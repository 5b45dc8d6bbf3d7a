#pragma once
// Breakpoints: conditions on the ops that a run calls and on the gradients of their outputs. Plain values
// without a Lua or engine type; any thread may hold a copy. inspect/breakpoint_watch.h checks them.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "script/view/source_place.h"

namespace lunagrad {

struct Breakpoint {
  enum class Condition {
    not_finite,  // the first result or gradient of a step that has a NaN, or an Inf that no operand had
    norm,        // the norm of a result or gradient is above `limit`; at most one hit per step
    op,          // the op called `text`
    shape,       // a result or gradient of shape `text`: "[64, *]"
    step,        // step number `step` begins
    line,        // the script's line `place` calls an op
    predicate    // the Lua expression `text` is true
  };
  enum class Pass { both, forward, backward };

  uint64_t id = 0;  // set by the session
  Condition condition = Condition::not_finite;
  Pass pass = Pass::both;
  bool enabled = true;
  double limit = 0;
  std::string text;
  SourcePlace place;
  int64_t step = 0;  // of not_finite: the first step to check; 0: all

  int64_t hits = 0;     // in the current or latest run; counted by the session
  std::string problem;  // an error of the predicate, which disabled the breakpoint; "": none
};

// A pause of a run at a breakpoint: the place and the reason.
struct BreakHit {
  uint64_t breakpoint = 0;
  int64_t step = 0;
  bool backward = false;
  std::string op;
  SourcePlace place;
  uint64_t node = 0;        // id on the tape, 0 when the op was not recorded
  std::string summary;      // one line
  std::string explanation;  // for a NaN: operands, the index and the likely cause; otherwise the summary
};

// "NaN or Inf", "step 12", "line 7 of train.lua, forward only".
std::string describe(const Breakpoint&);
// The reason why the breakpoint is invalid, as a sentence; "" when it is valid.
std::string problem_of(const Breakpoint&);
// The sizes of "[64, *]" or "64, *"; -1 matches any size. nullopt when the text is not a shape.
std::optional<std::vector<int64_t>> parse_shape_pattern(const std::string&);

}  // namespace lunagrad
