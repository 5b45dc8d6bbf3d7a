#pragma once
// Follows the values in registers, upvalues and globals of a compiled Lua chunk, without running it: tables
// of the library, such as nn after `local nn = lg.nn`, tensors, and the script's classes and their objects. A
// variable that is assigned twice, or in a branch, has an unknown value. Any thread.
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
  // globals: "_G" if the script wrote that. function: the name of the global function, such as "require".
  // text: the text. library: "lg.nn". method, type, object: the name. tensor: its call "x:gt(…)", or "".
  // Valid while the chunk is followed.
  std::string_view name;
  int type = 0;            // type, object: the number of the class, from 0
  bool of_tensor = false;  // method: the object is a tensor

  bool operator==(const Known&) const = default;
  bool is(Kind asked) const { return kind == asked; }
};
using KnownKind = Known::Kind;

// Receives what the chunk does with known values, function by function.
class ChunkObserver {
 public:
  virtual ~ChunkObserver() = default;
  virtual void reads(const Known& /*holder*/, std::string_view /*field*/, int /*line*/, bool /*method*/) {}
  // field "": an unknown key
  virtual void assigns(const Known& /*holder*/, std::string_view /*field*/, int /*line*/) {}
  virtual void calls(const Known& /*function*/, std::span<const Known> /*arguments*/, int /*line*/) {}
  // parent: of kind nothing when it is not known; a table of the library when the script gives none.
  virtual void makes_class(const Known& /*type*/, const Known& /*parent*/) {}
  virtual void tests(const Known& /*value*/, int /*line*/) {}  // used as a condition
  // The two sides of == or ~=; same: both are the same variable.
  virtual void compares(const Known& /*left*/, const Known& /*right*/, bool /*same*/, int /*line*/) {}
};

void follow(const CompiledFunction& chunk, const std::vector<ChunkObserver*>& observers);

}  // namespace lunagrad
