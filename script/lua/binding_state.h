#pragma once
// The data that the bindings keep for one Lua state. Every coroutine of the state reaches it in one load
// (lua_getextraspace). Private to script/. Belongs to the state's thread; made by new_state, destroyed by
// close_state.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <lua.hpp>
#include <map>
#include <memory>
#include <string>

#include "runtime/core/trace.h"
#include "script/files/file_limits.h"
#include "script/lua/caught_error.h"

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

  // Becomes the chunk of the frame. If that throws, it is the chunk of none.
  void read(const lua_Debug& frame);
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

// A function that is called after every op of the script: the session's safe point. It may raise a Lua error.
using SafePoint = void (*)(lua_State*, void* data);

struct BindingState {
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
  // Points to this BindingState while the state is open, then to null. Callbacks that outlive the state check
  // it.
  std::shared_ptr<BindingState*> alive;
  std::map<std::string, std::string> modules;  // of a sandboxed script: sources to use instead of these files

  // The chunk of a frame; cached. Each name has two slots. A step runs lines of a dozen files, and with one
  // slot each, two names that share it would evict each other at every call.
  const Chunk& chunk(const lua_Debug& frame) {
    const size_t first = (reinterpret_cast<uintptr_t>(frame.source) >> 4) % chunks.size(), second = first ^ 1;
    if (chunks[first].is(frame)) return chunks[first];
    if (chunks[second].is(frame)) return chunks[second];
    chunks[second] = chunks[first];
    chunks[first].read(frame);
    return chunks[first];
  }
};

inline BindingState& binding_state(lua_State* L) {
  return **static_cast<BindingState**>(lua_getextraspace(L));
}

void set_safe_point(lua_State*, SafePoint, void* data);
// Called at the end of every op that a script calls: the session's safe point.
inline void after_op(lua_State* L) {
  const BindingState& state = binding_state(L);
  if (state.safe_point) state.safe_point(L, state.safe_point_data);
}

// Notes the training flag of the module at `index` in the table of called modules, if there is one.
void remember_module(lua_State*, int index);

}  // namespace lunagrad
