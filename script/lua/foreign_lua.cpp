#include "script/lua/foreign_lua.h"

#ifdef LUNAGRAD_SHARED_LUA
#include <dlfcn.h>

#include <lua.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/core/error.h"

namespace lunagrad {

void refuse_foreign_lua() {
  // Some of those that Lua 5.1 and LuaJIT have, too, and some that only newer ones have. No host takes their
  // addresses, which could then be in the host.
  static const std::string foreign = [] {
    const std::pair<const char*, void*> functions[] = {
        {"lua_newstate", reinterpret_cast<void*>(lua_newstate)},
        {"luaL_newstate", reinterpret_cast<void*>(luaL_newstate)},
        {"lua_error", reinterpret_cast<void*>(lua_error)},
        {"lua_settop", reinterpret_cast<void*>(lua_settop)},
        {"lua_pcallk", reinterpret_cast<void*>(lua_pcallk)},
        {"lua_rotate", reinterpret_cast<void*>(lua_rotate)},
    };
    for (const auto& [name, function] : functions) {
      Dl_info found{};
      const bool known = dladdr(function, &found) && found.dli_fname;
      const std::string file = known ? found.dli_fname : "an unknown file";
      if (!std::string_view(file).substr(file.rfind('/') + 1).starts_with("liblua5.4-c++."))
        return std::string(name) + " is of " + file;
    }
    return std::string();
  }();
  if (!foreign.empty())
    fail("this process has another Lua: ", foreign,
         ", not of liblua5.4-c++.so; link that first, or build Lunagrad with LUNAGRAD_OWN_LUA=ON");
}

}  // namespace lunagrad

#else
namespace lunagrad {
void refuse_foreign_lua() {}
}  // namespace lunagrad
#endif
