#include "script/lua/script_line.h"

#include "runtime/core/context.h"
#include "script/lua/binding_state.h"

namespace lunagrad {

SourceLine script_line(lua_State* L, int level) {
  BindingState& state = binding_state(L);
  SourceLine innermost;
  lua_Debug frame;
  for (; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline < 0) continue;
    const Chunk& chunk = state.chunk(frame);
    const SourceLine line{chunk.file, frame.currentline};
    if (!chunk.library) return line;
    if (!innermost.known()) innermost = line;
  }
  return innermost;
}

void mark_line(lua_State* L) { context().line = script_line(L, 1); }

std::string position(lua_State* L) {
  const SourceLine line = script_line(L);
  return line.known() ? to_string(line) + ": " : std::string();
}

}  // namespace lunagrad
