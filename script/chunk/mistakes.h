#pragma once
// Mistakes of a script at which no run stops: valid Lua that does something other than it says. Any thread.
#include <string>
#include <string_view>
#include <vector>

#include "script/chunk/follow.h"

namespace lunagrad {

struct Mistake {
  enum class Kind {
    global,          // an assigned one, which probably lacks `local`
    lost_nil,        // at the end of an index
    tuple,           // of Python, taken apart
    condition,       // a tensor or a number
    never_equal,     // a tensor and a number
    same_tensor,     // == of two tensors, of which a run warns where it happens
    continued_line,  // the call of the line before goes on
  };
  Kind kind;
  int line = 0;
  std::string text;
};

// The mistakes in order of their lines, at most one of each kind for a line. GlobalUses (globals.h) finds
// assigned globals. One walk over the chunk also calls the observers.
std::vector<Mistake> silent_mistakes(const CompiledFunction& chunk, std::string_view source,
                                     std::vector<ChunkObserver*> observers = {});

// The lines that begin with a parenthesis which Lua takes for the arguments of what the line before ends
// with.
std::vector<int> continued_lines(std::string_view source);

// "train.lua:3: …" for the first mistake of each kind in the function at the top of the stack, which was
// compiled from the source of the file. globals: whether an assigned global is a mistake.
std::vector<std::string> mistake_warnings(lua_State*, std::string_view source, const std::string& file,
                                          bool globals);

// What is told of an assigned global.
std::string assigned_global(const std::string& name);

}  // namespace lunagrad
