#pragma once
// Helpers of the bindings of file formats. Private to script/; for the thread of the Lua state.
#include <lua.hpp>
#include <string>

#include "runtime/io/safetensors.h"
#include "script/files/file_limits.h"

namespace lunagrad {

// The path in argument 1 of "format.function". Error if it is not a path, or if the sandbox does not allow
// this use of it.
std::string check_path(lua_State*, const char* function, FileUse = FileUse::write);
// Pushes a tensor that was read from a file, after moving it to the default device, where every new tensor
// is.
void push_loaded(lua_State*, const Tensor&);
// Pushes a table name -> tensor; each tensor is moved as by push_loaded().
void push_named_tensors(lua_State*, const NamedTensors&);
// Reads a table name -> tensor from argument 2 of "format.save"; sorted by name.
NamedTensors check_named_tensors(lua_State*, const char* function);

// Adds npz, png and the formats without options to the table lg.io, which is at stack index `io`.
void bind_arrays(lua_State*, int io);
// Adds lg.io.pt in the same way.
void bind_pt(lua_State*, int io);
// is_pt: whether the file is a zip archive, as the files of torch.save are. push_pt: pushes its content.
bool is_pt(const std::string& path);
void push_pt(lua_State*, const std::string& path);

}  // namespace lunagrad
