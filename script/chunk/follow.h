#pragma once
// Follows what the registers, upvalues and globals of a compiled Lua chunk hold, without running it: tables
// of the library, such as nn after `local nn = lg.nn`, tensors, and the script's classes and their objects.
// What a variable holds that is assigned twice, or in a branch, is not known. Any thread.
#include <span>
#include <string_view>
#include <vector>

#include "script/chunk/chunk.h"

namespace lunagrad {

struct Known {
  enum class Kind : uint8_t {
    nothing,
    globals,
    function,
    text,
    library,
    method,
    tensor,
    number,
    type,
    object
  };
  Kind kind = Kind::nothing;
  // Of the globals "_G" where a script says so; of a global function "require"; the text; of the library
  // "lg.nn"; of a method, a type and an object its name; of a tensor its call "x:gt(…)", or "". It lives
  // while the chunk is followed.
  std::string_view name;
  int type = 0;            // of a type and an object: the number of the class, from 0
  bool of_tensor = false;  // of a method: the object is a tensor

  bool operator==(const Known&) const = default;
  bool is(Kind asked) const { return kind == asked; }
};

// Hears what the chunk does with such values, function by function.
class ChunkObserver {
 public:
  virtual ~ChunkObserver() = default;
  virtual void reads(const Known& /*holder*/, std::string_view /*field*/, int /*line*/, bool /*method*/) {}
  // field "": a key that is not known
  virtual void assigns(const Known& /*holder*/, std::string_view /*field*/, int /*line*/) {}
  virtual void calls(const Known& /*function*/, std::span<const Known> /*arguments*/, int /*line*/) {}
  // parent: of kind nothing when it is not known, a table of the library when none is given.
  virtual void makes_class(const Known& /*type*/, const Known& /*parent*/) {}
  virtual void tests(const Known& /*value*/, int /*line*/) {}  // as a condition
  // The two sides of == or ~=; same: they are one variable.
  virtual void compares(const Known& /*left*/, const Known& /*right*/, bool /*same*/, int /*line*/) {}
};

void follow(const CompiledFunction& chunk, const std::vector<ChunkObserver*>& observers);

}  // namespace lunagrad
