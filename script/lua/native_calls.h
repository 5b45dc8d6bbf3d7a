#pragma once
// Records which function of Lua's own library a script is in. Covers functions that may wait for something
// outside or compute for long without a safe point; each is wrapped when the state is opened. watch() and the
// calls belong to the session's thread; current() may be called from any thread.
#include <atomic>
#include <lua.hpp>
#include <utility>

#include "runtime/trace.h"

namespace lunagrad {

class NativeCalls {
 public:
  // Lives longer than the state.
  void watch(lua_State*);
  // Its name, "" for none, and the script's line.
  std::pair<const char*, SourceLine> current() const;

 private:
  static int call(lua_State*);
  static void wrap(lua_State*, NativeCalls*, const char* name);

  std::atomic<const char*> name_{""};
  std::atomic<SourceLine> line_{SourceLine()};
};

}  // namespace lunagrad
