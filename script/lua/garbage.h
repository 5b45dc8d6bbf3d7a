#pragma once
// When Lua's garbage collector runs. It does not see the bytes of tensors, so the engine collects before ops,
// before backward passes, and when memory runs out. For the state's thread.
#include <lua.hpp>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/core/waiting.h"
#include "script/lua/binding_state.h"

namespace lunagrad {

void collect_under_pressure(lua_State*, BindingState&);
// A full collection before a backward pass, or before a queue is computed: frees the tensors that the script
// dropped, of any generation. `pending`: bytes that the queue will allocate. Does nothing and returns false
// when the tensors have grown by less than 16 MiB since the last full collection, or when collections would
// take more than a 32nd of the time, with a GPU a 16th.
bool collect_dropped(lua_State*, BindingState&, size_t pending = 0);
// Collects the young garbage if there is enough of it. Results of deferred calls have no memory yet, and only
// a full collection finds a value that survived two collections. So the garbage of deferred calls is
// collected once, before they are computed.
inline void relieve_pressure(lua_State* L, BindingState& state) {
  if (state.pressure.due() && !waiting_queue) [[unlikely]]
    collect_under_pressure(L, state);
}
// Accounts for a new Lua value that holds `bytes` of elements.
inline void add_pressure(lua_State* L, size_t bytes) {
  BindingState& state = binding_state(L);
  relieve_pressure(L, state);  // for values that no op made
  state.pressure.bytes += bytes;
  ++state.pressure.handles;
}

// Runs a full garbage collection, which frees the tensors that the script no longer references, and frees the
// unused blocks of the devices.
void collect_everything(lua_State*);

// Runs f, which runs an op. When the engine is out of memory, runs f again after collect_everything. f must
// be repeatable after it throws; the Lua stack and the generator are as before on the second run.
template <class F>
void with_memory_retry(lua_State* L, F&& f) {
  relieve_pressure(L, binding_state(L));
  const int top = lua_gettop(L);
  const Generator generator = context().generator;
  try {
    return f();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
  }
  lua_settop(L, top);
  collect_everything(L);
  context().generator = generator;
  f();
}

}  // namespace lunagrad
