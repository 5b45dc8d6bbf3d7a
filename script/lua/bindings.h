#pragma once
// The parts of lunagrad.core, which script/bind/ defines in one file each. Called once, by open_lunagrad. For
// the state's thread.
#include <lua.hpp>

namespace lunagrad {

// The table of functions is at stack index `core`, the table of Tensor's methods at `methods`.
void bind_ops(lua_State*, int core, int methods);
void bind_create(lua_State*, int core, int methods);
void bind_tensor(lua_State*, int core, int methods);
void bind_index(lua_State*, int core, int methods);
void bind_split(lua_State*, int core, int methods);
void bind_grad(lua_State*, int core, int methods);
void bind_deferral(lua_State*, int core);
void bind_tape(lua_State*, int core, int methods);
void bind_custom(lua_State*, int core, int methods);
void bind_kernel(lua_State*, int core, int methods);
void bind_autocast(lua_State*, int core, int methods);
void bind_batching(lua_State*, int core, int methods);
void bind_io(lua_State*, int core, int methods);
void bind_data(lua_State*, int core, int methods);
void bind_module(lua_State*, int core, int methods);
void bind_optim(lua_State*, int core, int methods);
void bind_names(lua_State*, int core, int methods);
void bind_distributed(lua_State*, int core, int methods);
void bind_parts(lua_State*, int core, int methods);

}  // namespace lunagrad
