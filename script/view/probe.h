#pragma once
// A probe: a Lua expression that is evaluated at the end of each step, or each time a line is about to run.
// Plain values; any thread may hold a copy.
#include <cstdint>
#include <string>

#include "script/view/source_place.h"

namespace lunagrad {

struct Probe {
  uint64_t id = 0;         // given by Session::add_probe
  std::string name;        // "": the expression
  std::string expression;  // "model.fc1.weight.grad:norm()", or "norm of model.fc1.weight.grad"
  SourcePlace place;       // line 0: the end of each step; a file of "": the script itself
  int64_t first = 0;       // it is not evaluated in steps before this one
  int64_t since = 0;       // the first step of the run in which it is evaluated; 0: not known yet
};

}  // namespace lunagrad
