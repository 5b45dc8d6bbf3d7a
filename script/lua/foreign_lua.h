#pragma once
// Two Luas in one process. With Lua under names of its own (cmake/lua.cmake) nothing can be mixed up.

namespace lunagrad {

// With the shared library of Lua: an Error if this process has bound the functions of another Lua, which a
// host has linked first. Its errors would jump over C++ objects. Called before a state is made.
void refuse_foreign_lua();

}  // namespace lunagrad
