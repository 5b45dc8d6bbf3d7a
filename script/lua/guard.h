#pragma once
// The only conversion between C++ exceptions and Lua errors: every lua_CFunction of the project is guard<f>,
// where f may throw std::exception and may raise Lua errors. The wrapper is not noexcept and catches no other
// type, so that Lua's own exception passes through. It raises the Lua error after the catch block, so that no
// C++ exception stays alive.
#include <exception>
#include <lua.hpp>

#include "script/lua/caught_error.h"

namespace lunagrad {

// Raises "file.lua:line: message" in Lua and remembers the kind for traceback_call.
[[noreturn]] void raise(lua_State*, const CaughtError&);

template <int (*function)(lua_State*)>
int guard(lua_State* L) {
  CaughtError caught;
  try {
    return function(L);
  } catch (const std::exception& error) {
    caught.copy(error);
  }
  raise(L, caught);
}

}  // namespace lunagrad
