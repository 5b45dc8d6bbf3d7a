#pragma once
// Mistakes in a script that stop no run: valid Lua that does something other than it seems to. Any thread.
#include <string>
#include <string_view>
#include <vector>

#include "script/chunk/follow.h"

namespace lunagrad {

struct Mistake {
  enum class Kind {
    global,          // an assigned global, which probably lacks `local`
    lost_nil,        // a nil at the end of an index
    tuple,           // unpacked as in Python
    condition,       // a tensor or a number used as a condition
    never_equal,     // a tensor compared with a number
    same_tensor,     // == of two tensors; a run also warns where it happens
    continued_line,  // a line that continues the call of the line before
  };
  Kind kind;
  int line = 0;
  std::string text;
};

// The mistakes by line, at most one of each kind per line. GlobalUses (globals.h) finds assigned globals. One
// walk over the chunk also calls the observers.
std::vector<Mistake> silent_mistakes(const CompiledFunction& chunk, std::string_view source,
                                     std::vector<ChunkObserver*> observers = {});

// The lines that begin with a parenthesis which Lua takes as the arguments of a call to the end of the line
// before.
std::vector<int> continued_lines(std::string_view source);

// "train.lua:3: …" for the first mistake of each kind in the function at the top of the stack, which was
// compiled from the source of the file. globals: whether an assigned global is a mistake.
std::vector<std::string> mistake_warnings(lua_State*, std::string_view source, const std::string& file,
                                          bool globals);

// The message about an assigned global.
std::string assigned_global(const std::string& name);

}  // namespace lunagrad
