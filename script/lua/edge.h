#pragma once
// The data that the bindings keep for one Lua state. Every coroutine of the state reaches it in one load
// (lua_getextraspace). Private to script/. Belongs to the state's thread; made by new_state, destroyed by
// close_state.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <lua.hpp>
#include <map>
#include <memory>
#include <string>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/core/trace.h"
#include "runtime/core/waiting.h"
#include "script/files/file_limits.h"
#include "script/lua/guard.h"
#include "script/lua/state.h"

namespace lunagrad {

// A source file, identified by the name of its chunk. The name's address is not enough: Lua may free a chunk
// and reuse the address.
struct Chunk {
  static constexpr size_t kCompared = 64;  // bytes of the name that are compared, in addition to its length
  const char* source = nullptr;
  size_t length = 0;
  char start[kCompared];
  uint32_t file = 0;     // interned
  bool library = false;  // part of the bundled library

  bool is(const lua_Debug& frame) const {
    return source == frame.source && length == frame.srclen &&
           std::memcmp(start, source, std::min(length, kCompared)) == 0;
  }
};

// Counts new tensors, whose bytes Lua's garbage collector does not see. When there are enough, the collector
// runs before the next op, which can then reuse the memory of garbage tensors.
struct Pressure {
  size_t bytes = 0, handles = 0;        // new tensors since the last collection
  size_t most_bytes = size_t(1) << 20;  // collect when `bytes` reaches it
  size_t most_handles = 1024;
  size_t scale = 1;    // multiplies both limits where a collection takes long
  size_t base = 0;     // bytes of tensors after the last full collection, or the lowest number since
  uint64_t ended = 0;  // ticks at the end of the last collection
  // End and length of the last full collection, in ticks.
  uint64_t full_ended = 0, full_length = 0;
  uint64_t (*clock)() = ticks;  // replaced in tests, which must not depend on how long a collection takes

  bool due() const { return bytes >= most_bytes || handles >= most_handles; }
};

// A function of the script that the engine keeps: its purpose, and the line of the call that passed it.
struct KeptFunction {
  const char* role;
  SourceLine line;
};

class StepQueue;
class StepRecorder;

// Where calls are deferred (runtime/deferral). off: nowhere. automatic: in functions of lg.compile, and in
// the steps of lg.run.steps that become faster by it. always: in these functions and in all steps.
enum class Deferral : uint8_t { off, automatic, always };

struct Edge {
  lua_State* main = nullptr;
  int tensor_metatable = LUA_NOREF;  // registry reference
  size_t memory_limit = 0;           // bytes of Lua's heap and the tensors together, 0 = no limit
  size_t memory_used = 0;            // bytes of Lua's heap
  size_t unpooled = 0;               // bytes of Lua's heap that malloc holds, not the engine's pool
  Pressure pressure;
  int nested_closes = 0;  // depth of nested coroutine.close calls
  std::function<void(const std::string&)> on_module;
  SafePoint safe_point = nullptr;
  void* safe_point_data = nullptr;
  FileLimits files;
  int states = LUA_NOREF;  // registry reference to the objects of lg.run.state by name
  // The functions that the engine keeps in the registry, by reference; null unless a viewer asks what holds
  // memory.
  std::unique_ptr<std::map<int, KeptFunction>> kept_functions;
  // Registry reference to a table module -> training flag, which collects the modules that the current
  // checkpoint or recording calls; LUA_NOREF: there is none.
  int called_modules = LUA_NOREF;
  Deferral deferral = Deferral::automatic;
  bool deferral_refused = false;     // --eager: scripts cannot turn it on
  int plans_to_show = 0;             // --plan: counts down the steps; the plan of the last is printed
  std::shared_ptr<StepQueue> queue;  // deferred calls; made at first use
  // records a call of a captured graph's function (deferral/captured_function.h); else null
  StepRecorder* recorder = nullptr;
  CaughtError last_error;  // the last engine Error that became a Lua error
  std::array<Chunk, 64> chunks;
  // Points to this Edge while the state is open, then to null. Callbacks that outlive the state check it.
  std::shared_ptr<Edge*> alive;
  std::map<std::string, std::string> modules;  // of a sandboxed script: sources to use instead of these files

  const Chunk& chunk(const lua_Debug&);  // the chunk of a frame; cached
};

inline Edge& edge(lua_State* L) { return **static_cast<Edge**>(lua_getextraspace(L)); }

void collect_under_pressure(lua_State*, Edge&);
// A full collection before a backward pass, or before a queue is computed: frees the tensors that the script
// dropped, of any generation. `pending`: bytes that the queue will allocate. Does nothing and returns false
// when the tensors have grown by less than 16 MiB since the last full collection, or when collections would
// take more than a 32nd of the time.
bool collect_dropped(lua_State*, Edge&, size_t pending = 0);
// Collects the young garbage if there is enough of it. Results of deferred calls have no memory yet, and only
// a full collection finds a value that survived two collections. So the garbage of deferred calls is
// collected once, before they are computed.
inline void relieve_pressure(lua_State* L, Edge& state) {
  if (state.pressure.due() && !waiting_queue) [[unlikely]]
    collect_under_pressure(L, state);
}
// Accounts for a new Lua value that holds `bytes` of elements.
inline void add_pressure(lua_State* L, size_t bytes) {
  Edge& state = edge(L);
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
  relieve_pressure(L, edge(L));
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

// Called at the end of every op that a script calls: the session's safe point.
inline void after_op(lua_State* L) {
  const Edge& state = edge(L);
  if (state.safe_point) state.safe_point(L, state.safe_point_data);
}

// "off", "step", "op", or a boolean (true: "op").
Guard check_guard(lua_State*, int argument, const char* function);
// Notes the training flag of the module at `index` in the table of called modules, if there is one.
void remember_module(lua_State*, int index);

// The parts of lunagrad.core, one file each. The table of functions is at stack index `core`, the table of
// Tensor's methods at `methods`.
void bind_ops(lua_State*, int core, int methods);
void bind_create(lua_State*, int core, int methods);
void bind_tensor(lua_State*, int core, int methods);
void bind_index(lua_State*, int core, int methods);
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
void bind_parts(lua_State*, int core, int methods);

struct Signature;
// Pushes the function that runs an op with the arguments of its signature. The signature must outlive the
// state.
void push_op_function(lua_State*, const Signature&);

// Sets __index and __newindex of the tensors' metatable, which is at the top of the stack.
void set_field_events(lua_State*, int methods);
// x[k] and x[k] = v for a k that is not a string. They take the arguments of __index and __newindex.
int index_positions(lua_State*);
int assign_positions(lua_State*);

}  // namespace lunagrad
