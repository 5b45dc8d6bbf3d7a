#pragma once
// What the bindings of file formats share. Private to script/; for the state's thread.
#include <lua.hpp>
#include <string>

#include "runtime/io/safetensors.h"
#include "script/lua/file_limits.h"

namespace lunagrad {

// The path that is argument 1 of "format.function". Within a sandbox an Error when it lies where such a use
// is not allowed.
std::string check_path(lua_State*, const char* function, FileUse = FileUse::write);
// What a file holds goes where every new tensor goes: to the default device.
void push_loaded(lua_State*, const Tensor&);
// name -> tensor as a table, and back from argument 2 of "format.save".
void push_named_tensors(lua_State*, const NamedTensors&);
NamedTensors check_named_tensors(lua_State*, const char* function);

// The second part of lg.io: npz, png and the formats without options. The table is at stack index `io`.
void bind_arrays(lua_State*, int io);

}  // namespace lunagrad
