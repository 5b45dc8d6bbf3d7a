#pragma once
// Finds the fields of the library that a compiled Lua chunk reads, such as nn.Linear after `local nn =
// lg.nn`, without running it. Follows locals, upvalues and globals that are assigned once; a variable that
// may hold something else is left out. Any thread.
#include <string>
#include <vector>

#include "script/chunk/chunk.h"

namespace lunagrad {

struct FieldUse {
  std::string table;  // "lg.nn"
  std::string name;   // "Linear"
  int line = 0;
  bool assigned = false;
  std::string path() const { return table + "." + name; }
};

// In order of their lines.
std::vector<FieldUse> field_uses(const CompiledFunction& chunk);

}  // namespace lunagrad
