#pragma once
// Finds the indices x[{..., nil}] of a compiled Lua chunk: Lua's table does not have a nil at its end, so no
// index can see it. Any thread.
#include <vector>

#include "script/chunk/chunk.h"

namespace lunagrad {

constexpr const char* kLostNil = "the nil at the end of this index is lost; a new dim is lg.newaxis";

// Their lines, in order.
std::vector<int> lost_nils(const CompiledFunction& chunk);

}  // namespace lunagrad
