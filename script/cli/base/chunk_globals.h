#pragma once
// Finds the globals that a compiled Lua chunk reads and assigns, with their lines. It reads the chunk's
// bytecode in the format of string.dump, as Lua 5.4's lundump.c does. For the thread of the Lua state.
#include <lua.hpp>
#include <string>
#include <vector>

namespace lunagrad {

struct GlobalUse {
  enum class Kind { read, assigned, declared };  // declared: assigned as a field of _G
  std::string name;
  int line = 0;
  Kind kind = Kind::read;
};

// The uses in the function on top of the stack and its inner functions, in order of their lines. Leaves the
// stack as it is.
std::vector<GlobalUse> global_uses(lua_State*);

}  // namespace lunagrad
