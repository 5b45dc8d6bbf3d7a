#include "script/lua/state.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <new>

#include "runtime/core/memory_limit.h"
#include "runtime/core/ref.h"
#include "script/lua/edge.h"
#include "script/lua/function.h"
#include "script/lua/sandbox.h"
#include "script/meta/library.h"
#include "script/parts/names.h"

namespace lunagrad {
namespace {

// Blocks of up to this many bytes come from the engine's free lists, in a third of malloc's time.
constexpr size_t kPooled = 256;

// Tensors leave an eighth of the limit to Lua (storage.cpp). So the sum with the tensors is checked only when
// Lua's heap is larger than that eighth.
bool has_room(const Edge& state, size_t old_bytes, size_t bytes) {
  if (bytes <= kPooled && !pool_must_grow(bytes)) return true;  // the pool has a free block
  const size_t more = bytes - std::min(old_bytes, bytes);
  return state.memory_used + more <= state.memory_limit / 8 || memory_in_use() + more <= state.memory_limit;
}

void* allocate(void* data, void* block, size_t old_bytes, size_t bytes) {
  Edge& state = *static_cast<Edge*>(data);
  if (!block) old_bytes = 0;  // for a new block it is a type tag
  if (state.memory_limit && bytes > old_bytes && !has_room(state, old_bytes, bytes)) return nullptr;
  void* result = nullptr;
  try {
    if (bytes == 0) {
      if (old_bytes > kPooled)
        std::free(block);
      else
        pool_free(block, old_bytes);
    } else if (old_bytes > kPooled && bytes > kPooled) {
      result = std::realloc(block, bytes);
    } else {
      result = bytes > kPooled ? std::malloc(bytes) : pool_allocate(bytes);
      if (result && block) {
        std::memcpy(result, block, std::min(old_bytes, bytes));
        if (old_bytes > kPooled)
          std::free(block);
        else
          pool_free(block, old_bytes);
      }
    }
  } catch (const std::exception&) {  // the system or the pool has no memory
    return nullptr;
  }
  if (result || bytes == 0) {
    state.memory_used += bytes - old_bytes;
    state.unpooled += (bytes > kPooled ? bytes : 0) - (old_bytes > kPooled ? old_bytes : 0);
  }
  return result;
}

// Called for an error outside of all protected calls: a mistake of the host, or too little memory at
// start-up.
int panic(lua_State* L) {
  const char* message = lua_tostring(L, -1);
  throw Error(message ? message : "an error outside a protected call", ErrorKind::memory);
}

std::string in_folder(const std::string& folder) { return folder + "/?.lua;" + folder + "/?/init.lua;"; }

std::string data_folder() {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data)
    return std::string(data) + "/lunagrad/lua";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.local/share/lunagrad/lua";
  return {};
}

// package.searchers[2]: "lunagrad" and "lunagrad.x" come only from the bundled library, so that a script
// named lunagrad.lua cannot hide it.
int search_library(lua_State* L) {
  const std::string name = luaL_checkstring(L, 1);
  if (name != "lunagrad" && !name.starts_with("lunagrad.")) {
    lua_pushnil(L);
    return 1;
  }
  for (const PartField& field : part_fields())
    if (!field.built && name == field.module) fail_left_out("lg." + std::string(field.path));
  std::string path = name;
  std::replace(path.begin(), path.end(), '.', '/');
  path = library_directory() + "/" + path;
  for (const char* ending : {".lua", "/init.lua"}) {
    const std::string file = path + ending;
    if (access(file.c_str(), R_OK) != 0) continue;
    load_file(L, file);
    lua_pushlstring(L, file.data(), file.size());
    return 2;
  }
  fail("require: the bundled library has no module '", name, "' in ", library_directory(),
       " (LUNAGRAD_LUA may name another folder)");
}

// package.searchers[3]: the search along package.path. Calls on_module with the file before it is loaded.
// Upvalues: package.searchpath, package.
int search_files(lua_State* L) {
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_getfield(L, lua_upvalueindex(2), "path");
  lua_call(L, 2, 2);
  if (lua_isnil(L, 1)) return 1;  // not found: the message lists the files that were tried
  lua_settop(L, 1);
  const std::string file = luaL_checkstring(L, 1);
  if (const Edge& state = edge(L); state.on_module) state.on_module(file);
  load_file(L, file, nullptr);
  lua_insert(L, 1);
  return 2;
}

// C modules would load Lua's C build in addition to this build, so their searchers are removed.
void set_search_path(lua_State* L, const StateOptions& options) {
  lua_getglobal(L, "package");
  std::string path;
  if (!options.script_directory.empty() && options.script_directory != ".")
    path += in_folder(options.script_directory);
  path += in_folder(".") + in_folder("./lua_modules");
  if (const std::string data = data_folder(); !data.empty()) path += in_folder(data);
  lua_getfield(L, -1, "path");
  path += lua_tostring(L, -1);
  lua_pop(L, 1);
  lua_pushlstring(L, path.data(), path.size());
  lua_setfield(L, -2, "path");
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "cpath");

  lua_getfield(L, -1, "searchers");
  lua_getfield(L, -2, "searchpath");
  lua_pushvalue(L, -3);
  lua_pushcclosure(L, guard<search_files>, 2);
  lua_rawseti(L, -2, 3);
  lua_pushcfunction(L, guard<search_library>);
  lua_rawseti(L, -2, 2);
  lua_pushnil(L);
  lua_rawseti(L, -2, 4);
  lua_pop(L, 2);
}

template <class F>
int call_body(lua_State* L) {
  Passed<F>::take()(L);
  return 0;
}

// Lua 5.4.4 does not count the C stack of coroutines that close one another: about 10,000 nested closes crash
// it (fixed upstream in 1e64c139).
constexpr int kNestedCloses = 100;

// coroutine.close with a limit on its nesting. Upvalue 1: Lua's own function.
int close_coroutine(lua_State* L) {
  struct Nesting {
    int& depth;
    explicit Nesting(int& counter) : depth(++counter) {}
    ~Nesting() { --depth; }
  } const nesting(edge(L).nested_closes);
  if (nesting.depth > kNestedCloses)
    fail("coroutine.close: more than ", kNestedCloses, " closes inside one another");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

void bound_nested_closes(lua_State* L) {
  lua_getglobal(L, LUA_COLIBNAME);
  lua_getfield(L, -1, "close");
  lua_pushcclosure(L, guard<close_coroutine>, 1);
  lua_setfield(L, -2, "close");
  lua_pop(L, 1);
}

// Runs `body` in protected mode and turns a Lua error into an Error.
template <class F>
void protect(lua_State* L, F body) {
  lua_pushcfunction(L, guard<call_body<F>>);
  const Passed<F> passed(body);
  const int status = lua_pcall(L, 0, 0, 0);
  if (status == LUA_OK) return;
  const std::string message = lua_tostring(L, -1) ? lua_tostring(L, -1) : "unknown error";
  lua_pop(L, 1);
  throw Error(message, status == LUA_ERRMEM ? ErrorKind::memory : ErrorKind::value);
}

}  // namespace

lua_State* new_state(const StateOptions& options) {
  auto state = std::make_unique<Edge>();
  state->memory_limit = options.memory_limit;
  state->on_module = options.on_module;
  lua_State* L = lua_newstate(allocate, state.get());
  if (!L) throw Error("not enough memory for a Lua state", ErrorKind::memory);
  Edge& made = *state.release();
  made.main = L;
  made.alive = std::make_shared<Edge*>(&made);
  if (options.memory_limit) set_memory_limit({options.memory_limit, &made.unpooled});
  *static_cast<Edge**>(lua_getextraspace(L)) = &made;
  lua_atpanic(L, panic);
  try {
    protect(L, [&](lua_State* inner) {
      if (options.sandbox) {
        open_sandbox_libraries(inner);
      } else {
        luaL_openlibs(inner);
      }
      bound_nested_closes(inner);
      set_search_path(inner, options);
      if (options.sandbox) close_sandbox(inner);
      lua_gc(inner, LUA_GCGEN, 0, 0);
    });
  } catch (...) {
    close_state(L);
    throw;
  }
  return L;
}

void close_state(lua_State* L) {
  if (!L) return;
  Edge* state = &edge(L);
  if (state->queue) context().queue = nullptr;
  lua_close(state->main);
  if (memory_limit().heap == &state->unpooled) set_memory_limit({});
  *state->alive = nullptr;
  delete state;
}

void open_lunagrad(lua_State* L) {
  protect(L, [](lua_State* inner) {
    lua_getfield(inner, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_newtable(inner);  // lunagrad.core
    lua_newtable(inner);  // Tensor's methods
    const int methods = lua_gettop(inner), core = methods - 1;
    bind_tensor(inner, core, methods);
    bind_ops(inner, core, methods);
    bind_create(inner, core, methods);
    bind_index(inner, core, methods);
    bind_grad(inner, core, methods);
    bind_deferral(inner, core);
    bind_tape(inner, core, methods);
    bind_custom(inner, core, methods);
    bind_kernel(inner, core, methods);
    bind_autocast(inner, core, methods);
    bind_batching(inner, core, methods);
    bind_io(inner, core, methods);
    bind_data(inner, core, methods);
    bind_module(inner, core, methods);
    bind_optim(inner, core, methods);
    bind_names(inner, core, methods);
    bind_parts(inner, core, methods);
    lua_settop(inner, core);
    lua_setfield(inner, -2, "lunagrad.core");
    if (edge(inner).files.limited) hide_metatables(inner);
  });
}

void load_file(lua_State* L, const std::string& path, const char* mode) {
  const int status = luaL_loadfilex(L, path.c_str(), mode);
  if (status == LUA_ERRFILE && errno == ENOMEM) throw std::bad_alloc();
  if (status != LUA_OK) lua_error(L);
}

void add_module(lua_State* L, const char* name, const luaL_Reg* functions, void* owner) {
  protect(L, [&](lua_State* inner) {
    lua_getfield(inner, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(inner, -1, "lunagrad.core");
    lua_newtable(inner);
    lua_pushlightuserdata(inner, owner);
    luaL_setfuncs(inner, functions, 1);
    lua_setfield(inner, -2, name);
  });
}

void set_safe_point(lua_State* L, SafePoint function, void* data) {
  edge(L).safe_point = function;
  edge(L).safe_point_data = data;
}

namespace {

// The bytes of the tensors on the CPU and on the default device, and how much garbage is allowed in addition
// to a quarter of them.
struct TensorBytes {
  size_t live = cpu_device().memory().in_use, spare = size_t(64) << 20;

  TensorBytes() {
    Device& device = *context().device;
    if (device.is_cpu()) return;
    const DeviceMemory memory = device.memory();
    live += memory.in_use;
    spare += memory.total / 128;  // a GPU writes gigabytes during a full collection
  }
};

// Restores the place, because a finalizer may call ops.
struct KeptPlace {
  SourceLine line = context().line;
  uint32_t module = context().module;
  ~KeptPlace() {
    context().line = line;
    context().module = module;
  }
};

void collect_all(lua_State* L, Pressure& pressure) {
  const uint64_t start = pressure.clock();
  lua_gc(L, LUA_GCCOLLECT);
  pressure.base = TensorBytes().live;
  pressure.ended = pressure.full_ended = pressure.clock();
  pressure.full_length = pressure.full_ended - start;
}

}  // namespace

// Lua's collector is generational. A young collection finds young garbage in microseconds, so the next op
// reuses the memory of the last op's result while it is in the processor's cache. A value that survived two
// collections is old, and only a full collection frees it. A full collection runs when the bytes of the
// tensors have grown by 64 MiB plus a quarter, so the share of its time does not grow with the model.
void collect_under_pressure(lua_State* L, Edge& state) {
  constexpr size_t kParts = 64, kMostHandles = 1024;
  constexpr double kShare = 0.05, kHandle = 300;  // share of the time; nanoseconds per tensor freed
  Pressure& pressure = state.pressure;
  const size_t handles = std::exchange(pressure.handles, 0);
  pressure.bytes = 0;
  if (lua_gc(L, LUA_GCISRUNNING) != 1) return;  // -1: in a finalizer
  const KeptPlace place;
  const TensorBytes before;
  pressure.base = std::min(pressure.base, before.live);
  size_t growth = before.spare + pressure.base / 4;
  if (state.memory_limit) growth = std::min(growth, state.memory_limit / 8);
  const uint64_t start = pressure.clock();
  if (before.live - pressure.base > growth) {
    collect_all(L, pressure);
  } else {
    // A step large enough for Lua to check whether its own heap needs a full collection.
    lua_gc(L, LUA_GCSTEP, lua_gc(L, LUA_GCCOUNT) + 1);
    const double since = ticks_to_ns(start - pressure.ended);
    pressure.ended = pressure.clock();
    // Collect less often where much must be traversed, as while a long table is filled.
    const double cost = ticks_to_ns(pressure.ended - start);
    const bool dear = cost > kShare * since + kHandle * double(handles);
    pressure.scale = dear ? std::min(2 * pressure.scale, kParts) : std::max<size_t>(pressure.scale / 2, 1);
  }
  pressure.most_bytes = std::max<size_t>(growth / kParts, 1) * pressure.scale;
  pressure.most_handles = kMostHandles * pressure.scale;
}

bool collect_dropped(lua_State* L, Edge& state, size_t pending) {
  constexpr size_t kWorth = size_t(16) << 20;
  constexpr uint64_t kOfTime = 32;
  Pressure& pressure = state.pressure;
  if (lua_gc(L, LUA_GCISRUNNING) != 1) return false;
  const size_t live = TensorBytes().live;
  pressure.base = std::min(pressure.base, live);
  if (live + pending - pressure.base < kWorth) return false;
  if (pressure.clock() - pressure.full_ended < kOfTime * pressure.full_length) return false;
  const KeptPlace place;
  collect_all(L, pressure);
  return true;
}

void collect_everything(lua_State* L) {
  lua_gc(L, LUA_GCCOLLECT);
  cpu_device().release_unused();
  if (Device& device = *context().device; !device.is_cpu()) {
    device.sync();
    device.release_unused();
  }
}

}  // namespace lunagrad
