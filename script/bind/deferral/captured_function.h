#pragma once
// Bindings of functions with a captured graph: lg.compile(fn, {capture_graph = true}). A function is recorded
// until two calls in a row are equal. From then on its calls run without Lua, as planned (runtime/deferral/
// captured_graph.h), as long as its arguments, and the numbers, strings and booleans that it reads, match the
// recording. Every hundredth call is recorded again and compared. Lua still makes the calls that the library
// marks as live: an optimizer counts its steps and reads its settings. For the state's thread.
#include <lua.hpp>

namespace lunagrad {

void bind_captured_functions(lua_State*, int core);

}  // namespace lunagrad
