#pragma once
// Values of a script that a sealed function sees or gives: where each is found, and of what it is built.
// Tables without a metatable are taken apart; Lua values are kept in a table of references.
#include <lua.hpp>
#include <string>
#include <utility>
#include <vector>

#include "runtime/deferral/recording.h"

namespace lunagrad {

// Lua values that are kept in the table at a stack index, by number.
class References {
 public:
  References(lua_State* L, int table) : L_(L), table_(lua_absindex(L, table)) {}
  int keep(int index);  // of a value on the stack
  void push(int reference) const { lua_rawgeti(L_, table_, reference); }
  bool is(int index, int reference) const;  // whether the value equals the one that was kept

 private:
  lua_State* L_;
  int table_;
};

// A value that a step gives, or takes from its script.
struct Pattern {
  enum class Kind : uint8_t { constant, tensor, table } kind = Kind::constant;
  int reference = 0;                            // of a constant
  Use use;                                      // of a tensor
  std::vector<std::pair<int, Pattern>> fields;  // key, value
};

// The pattern of the value at `index`. Tells the recording why it cannot be sealed, if so.
Pattern pattern_of(lua_State*, int index, References&, Recording&);

// Where a function finds a value: an argument, a variable of a function, or a global; then the keys of
// tables.
struct Source {
  enum class Root : uint8_t { argument, variable, global } root;
  int number = 0;         // of the argument, of the variable
  int owner = 0;          // reference of the function that has the variable; of the name of a global
  std::vector<int> keys;  // references
  int tensor = -1;        // which tensor of the step it is; -1: a constant
  int constant = 0;       // reference
  std::string name;       // of a variable or a global

  // Pushes the value. False, and nothing is pushed: there is none. Arguments begin at stack index `first`.
  bool push(lua_State*, const References&, int first) const;
};

// All sources of a function and of the script's functions that it refers to, with their values now: tensors
// are appended to `tensors`. The arguments lie at `first` to `last`.
std::vector<Source> find_sources(lua_State*, int function, int first, int last, References&,
                                 TensorList& tensors);

// The names and number of the globals that hold numbers, strings, booleans or tensors.
int count_globals(lua_State*);

}  // namespace lunagrad
