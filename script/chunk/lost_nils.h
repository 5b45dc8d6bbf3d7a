#pragma once
// Finds the indices x[{..., nil}] of a compiled Lua chunk. A Lua table cannot hold a nil at its end, so
// indexing cannot see it. Any thread.
#include <vector>

#include "script/chunk/chunk.h"

namespace lunagrad {

constexpr const char* kLostNil = "the nil at the end of this index is lost; a new dim is lg.newaxis";

// The lines of these indices, ascending.
std::vector<int> lost_nils(const CompiledFunction& chunk);

}  // namespace lunagrad
