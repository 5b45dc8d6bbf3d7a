#pragma once
// LuaCATS annotations of the ops for Lua editors, generated from the op records. No Lua; any thread.
#include <iosfwd>

namespace lunagrad {

// A Lua file that annotates the class Tensor and the module lunagrad: every op as a function and as a method.
void print_meta(std::ostream&);

}  // namespace lunagrad
