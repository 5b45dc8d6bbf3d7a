#include "script/lua/guard.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "script/lua/binding_state.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

constexpr int kKeptArguments = 8;  // they leave room for the message on any C function's stack

}  // namespace

void raise(lua_State* L, const CaughtError& caught) {
  // The message handler looks at the first arguments: describe_wrong_call(), and the operands of the failed
  // op.
  lua_settop(L, std::min(lua_gettop(L), kKeptArguments));
  binding_state(L).last_error = caught;
  char place[512] = "";
  try {
    std::snprintf(place, sizeof place, "%s", position(L).c_str());
  } catch (const std::bad_alloc&) {
    // The message then has no position.
  }
  lua_pushfstring(L, "%s%s", place, caught.message);
  lua_error(L);
  std::abort();  // not reached
}

}  // namespace lunagrad
