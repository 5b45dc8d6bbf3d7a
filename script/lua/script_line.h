#pragma once
// Lines of a script: the line of the running call, for nodes and for messages. For the state's thread.
#include <lua.hpp>
#include <string>

#include "runtime/core/trace.h"

namespace lunagrad {

// The current line of the innermost function outside the bundled library, searched from `level` outwards.
// When all functions are in the library, the current line of the innermost function.
SourceLine script_line(lua_State*, int level = 0);
// Sets context().line to the script's line. Called by C functions of the binding that may record a node.
void mark_line(lua_State*);
// The start of an error message, "train.lua:12: "; "" when no line is known.
std::string position(lua_State*);

}  // namespace lunagrad
