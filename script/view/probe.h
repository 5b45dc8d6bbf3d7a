#pragma once
// A probe: a Lua expression that is evaluated at the end of each step, or each time a line is about to run.
// Plain values; any thread may hold a copy.
#include <cstdint>
#include <string>

#include "script/view/source_place.h"

namespace lunagrad {

struct Probe {
  uint64_t id = 0;         // set by Session::add_probe
  std::string name;        // "": the expression is the name
  std::string expression;  // "model.fc1.weight.grad:norm()", or "norm of model.fc1.weight.grad"
  SourcePlace place;       // line 0: the end of each step; file "": the script itself
  int64_t first = 0;       // not evaluated in earlier steps
  int64_t since = 0;       // the run's first step in which it is evaluated; 0: not known yet
};

}  // namespace lunagrad
