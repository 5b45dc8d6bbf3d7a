#pragma once
// Records which function of Lua's own library a script is in. Covers the functions that may wait for a file
// or a process, or compute for a long time, without a safe point. watch() wraps them when the state is
// opened. watch() and the wrapped functions run on the session's thread; current() may be called from any
// thread.
#include <atomic>
#include <lua.hpp>
#include <utility>

#include "runtime/core/trace.h"

namespace lunagrad {

class NativeCalls {
 public:
  // Wraps the functions of the state. This object must outlive the state.
  void watch(lua_State*);
  // The name of the library function that the script is in, and the line of the call; "" if it is in none.
  std::pair<const char*, SourceLine> current() const;

 private:
  static int call(lua_State*);
  static void wrap(lua_State*, NativeCalls*, const char* name);

  std::atomic<const char*> name_{""};
  std::atomic<SourceLine> line_{SourceLine()};
};

}  // namespace lunagrad
