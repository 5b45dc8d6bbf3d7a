#pragma once
// Values of a script that a captured function reads or returns: where each is found, and how it is built.
// Tables without a metatable are searched entry by entry. Lua values are kept in a table of references.
#include <lua.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/deferral/recording.h"

namespace lunagrad {

// Lua values that are kept by number in the table at a stack index.
class References {
 public:
  References(lua_State* L, int table) : L_(L), table_(lua_absindex(L, table)) {}
  int keep(int index);  // keeps the value at a stack index
  void push(int reference) const { lua_rawgeti(L_, table_, reference); }
  bool is(int index, int reference) const;  // whether the value equals the kept value

 private:
  lua_State* L_;
  int table_;
};

// The structure of a value that a step returns, or passes to a live call.
struct Pattern {
  enum class Kind : uint8_t { constant, tensor, table } kind = Kind::constant;
  int reference = 0;                            // kind constant
  Use use;                                      // kind tensor
  std::vector<std::pair<int, Pattern>> fields;  // kind table: key, value
};

// The pattern of the value at `index`. Tells the recording if the value cannot be captured, and why.
Pattern pattern_of(lua_State*, int index, References&, Recording&);

// Where a function finds a value: an argument, an upvalue of a function, or a global; then the keys of nested
// tables.
struct Source {
  enum class Root : uint8_t { argument, variable, global } root;
  int number = 0;         // of the argument or upvalue
  int owner = 0;          // reference of the function with the upvalue, or of the global's name
  std::vector<int> keys;  // references to the keys
  int tensor = -1;        // index among the step's tensors; -1: a constant
  int constant = 0;       // reference to the constant's value
  std::string name;       // of the upvalue or global

  // Pushes the value. Returns false and pushes nothing if there is none. Arguments begin at stack index
  // `first`.
  bool push(lua_State*, const References&, int first) const;
};

// All sources of a function and of the script's functions that it refers to, with their present values;
// tensors are appended to `tensors`. The arguments are at `first` to `last`.
std::vector<Source> find_sources(lua_State*, int function, int first, int last, References&,
                                 TensorList& tensors);

// The number of global variables.
int count_globals(lua_State*);

}  // namespace lunagrad
