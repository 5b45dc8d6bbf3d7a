#pragma once
// Finds the globals that a compiled Lua chunk reads and assigns, with their lines. Any thread.
#include <string>
#include <vector>

#include "script/chunk/chunk.h"

namespace lunagrad {

struct GlobalUse {
  enum class Kind { read, assigned, declared };  // declared: assigned as a field of _G
  std::string name;
  int line = 0;
  Kind kind = Kind::read;
};

// The uses in the function and its inner functions, in order of their lines.
std::vector<GlobalUse> global_uses(const CompiledFunction& chunk);

}  // namespace lunagrad
