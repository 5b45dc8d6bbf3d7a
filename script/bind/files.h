#pragma once
// Helpers of the bindings of file formats. Private to script/; for the thread of the Lua state.
#include <lua.hpp>
#include <string>

#include "runtime/io/safetensors.h"
#include "script/lua/file_limits.h"

namespace lunagrad {

// The path that is argument 1 of "format.function". In a sandbox an Error if this use of the path is not
// allowed.
std::string check_path(lua_State*, const char* function, FileUse = FileUse::write);
// Pushes a tensor that was read from a file, moved to the default device like every new tensor.
void push_loaded(lua_State*, const Tensor&);
// Pushes a table name -> tensor; reads one from argument 2 of "format.save".
void push_named_tensors(lua_State*, const NamedTensors&);
NamedTensors check_named_tensors(lua_State*, const char* function);

// The second part of lg.io: npz, png and the formats without options. The table is at stack index `io`.
void bind_arrays(lua_State*, int io);

}  // namespace lunagrad
