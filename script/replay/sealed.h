#pragma once
// Bindings of functions that run again without Lua: lg.compile(fn, {sealed = true}). A function is recorded
// until two calls in a row are the same. From then on its calls run as they were planned (runtime/deferral/
// sealed_step.h), as long as its arguments, and the numbers, strings and booleans that it sees, are like
// those of the recording. Every hundredth call is recorded again and compared. Calls that the library marks
// as live stay with the script: an optimizer counts its steps and reads its settings. For the state's thread.
#include <lua.hpp>

namespace lunagrad {

void bind_sealed(lua_State*, int core);

}  // namespace lunagrad
