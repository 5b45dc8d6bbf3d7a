#include "script/lua/state.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/core/memory_limit.h"
#include "runtime/core/ref.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/foreign_lua.h"
#include "script/lua/guard.h"
#include "script/lua/module_search.h"
#include "script/lua/passed.h"
#include "script/lua/sandbox.h"

namespace lunagrad {
namespace {

// Blocks of up to this many bytes come from the engine's free lists, in a third of malloc's time.
constexpr size_t kPooled = 256;

// Tensors leave an eighth of the limit to Lua (storage.cpp). So the sum with the tensors is checked only when
// Lua's heap is larger than that eighth.
bool has_room(const BindingState& state, size_t old_bytes, size_t bytes) {
  if (bytes <= kPooled && !pool_must_grow(bytes)) return true;  // the pool has a free block
  const size_t more = bytes - std::min(old_bytes, bytes);
  return state.memory_used + more <= state.memory_limit / 8 || memory_in_use() + more <= state.memory_limit;
}

void* allocate(void* data, void* block, size_t old_bytes, size_t bytes) {
  BindingState& state = *static_cast<BindingState*>(data);
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
  } const nesting(binding_state(L).nested_closes);
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
  refuse_foreign_lua();
  auto state = std::make_unique<BindingState>();
  state->memory_limit = options.memory_limit;
  state->on_module = options.on_module;
  lua_State* L = lua_newstate(allocate, state.get());
  if (!L) throw Error("not enough memory for a Lua state", ErrorKind::memory);
  BindingState& made = *state.release();
  made.main = L;
  made.alive = std::make_shared<BindingState*>(&made);
  if (options.memory_limit) set_memory_limit({options.memory_limit, &made.unpooled});
  *static_cast<BindingState**>(lua_getextraspace(L)) = &made;
  lua_atpanic(L, panic);
  try {
    protect(L, [&](lua_State* inner) {
      if (options.sandbox) {
        open_sandbox_libraries(inner);
      } else {
        luaL_openlibs(inner);
      }
      bound_nested_closes(inner);
      set_search_path(inner, options.script_directory);
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
  BindingState* state = &binding_state(L);
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
    bind_split(inner, core, methods);
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
    bind_distributed(inner, core, methods);
    bind_parts(inner, core, methods);
    lua_settop(inner, core);
    lua_setfield(inner, -2, "lunagrad.core");
    if (binding_state(inner).files.limited) hide_metatables(inner);
  });
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

}  // namespace lunagrad
