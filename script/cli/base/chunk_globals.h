#pragma once
// The globals that a compiled Lua chunk reads and assigns, with their lines. Read from the chunk as
// string.dump writes it (Lua 5.4's lundump.c reads the same).
#include <lua.hpp>
#include <string>
#include <vector>

namespace lunagrad {

struct GlobalUse {
  enum class Kind { read, assigned, declared };  // declared: as a field of _G
  std::string name;
  int line = 0;
  Kind kind = Kind::read;
};

// Of the function on top of the stack, in order of their lines. Leaves the stack as it is.
std::vector<GlobalUse> global_uses(lua_State*);

}  // namespace lunagrad
