#pragma once
// The lines on which a script declares its local variables and assigns its globals and fields, read from the
// bytecode of its functions. For the thread of the Lua state.
#include <lua.hpp>
#include <map>
#include <string>

#include "runtime/core/trace.h"
#include "script/chunk/chunk.h"

namespace lunagrad {

class ScriptPlaces {
 public:
  // Reads the function at the top of the stack, which stays there, and the functions inside it. `file`:
  // interned. `main`: the function is a whole file, so its globals are known.
  void read(lua_State*, uint32_t file, bool main);
  // The line that declares the local variable, in the function that was read last and is now at `line`. Of
  // several declarations of the name, the latest one before it.
  SourceLine local(const std::string& name, int line) const;
  // The first line that assigns a global, or a field, of that name; unknown when none is seen.
  SourceLine global(const std::string& name) const { return find(globals_, name); }
  SourceLine field(const std::string& name) const { return find(fields_, name); }

 private:
  using Lines = std::map<std::string, SourceLine, std::less<>>;
  static SourceLine find(const Lines&, const std::string& name);
  void read_fields(const CompiledFunction&);

  uint32_t file_ = 0;
  CompiledFunction latest_;
  Lines globals_, fields_;
};

}  // namespace lunagrad
