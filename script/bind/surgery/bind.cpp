// Functions of lunagrad.core that lua/lunagrad/surgery calls: the operands of a module's latest call, the
// bits of a tensor, and the variables of the script.
#include "runtime/core/hash.h"
#include "runtime/ops.h"
#include "script/bind/nn/seen_call.h"
#include "script/lua/binding_state.h"
#include "script/lua/console_scope.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/size.h"
#include "script/parts/parts.h"

namespace lunagrad {
namespace {

// Pushes a list with {shape =, dtype =, device =} for each tensor and false for each other value.
void push_operands(lua_State* L, const SeenCall::Operands& seen) {
  lua_createtable(L, seen.count, 0);
  for (int i = 0; i < seen.count; ++i) {
    if (i < SeenCall::kMost && seen.operands[size_t(i)].tensor) {
      const SeenCall::Operand& operand = seen.operands[size_t(i)];
      lua_createtable(L, 0, 3);
      push_dims(L, operand.shape);
      lua_setfield(L, -2, "shape");
      lua_pushstring(L, dtype_name(operand.dtype));
      lua_setfield(L, -2, "dtype");
      push_string(L, operand.device->name());
      lua_setfield(L, -2, "device");
    } else {
      lua_pushboolean(L, false);
    }
    lua_rawseti(L, -2, i + 1);
  }
}

// _seen(module) -> inputs and outputs of its latest completed call; nil when there is none
int seen(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const SeenCall* const call = SeenCall::in(L, 1);
  if (!call || call->outputs().count == 0) return 0;
  push_operands(L, call->inputs());
  push_operands(L, call->outputs());
  return 2;
}

// _hash(value, …) -> a hash of the bits of tensors (elements in row-major order, without shape and type) and
// of strings
int hash(lua_State* L) {
  Hash hash;
  for (int i = 1; i <= lua_gettop(L); ++i) {
    if (to_tensor(L, i)) {
      const NoGrad off;
      const Tensor host = contiguous(to(check_tensor(L, i, "hash").detach(), cpu_device()));
      if (host.numel() > 0) hash.add(std::string_view(static_cast<const char*>(host.raw()), host.nbytes()));
    } else {
      hash.add(check_string(L, i, "hash"));
    }
  }
  lua_pushinteger(L, lua_Integer(hash.value()));
  return 1;
}

// _version(tensor) -> a number that grows with every write to the tensor's memory and with every replacement
// of the memory. Computes deferred writes first.
int version(lua_State* L) {
  const Storage& storage = check_tensor(L, 1, "version").storage();
  storage.before_read();
  lua_pushinteger(L, lua_Integer(storage.version));
  return 1;
}

void add_locals(lua_State* L, lua_State* script) {
  if (!lua_checkstack(script, 1)) return;
  visit_script_locals(script, [&](const lua_Debug& frame, int index, const char* name) {
    lua_pushstring(L, name);
    if (lua_rawget(L, -2) == LUA_TNIL) {
      lua_pushstring(L, name);
      lua_getlocal(script, &frame, index);
      if (script != L) lua_xmove(script, L, 1);
      lua_rawset(L, -4);
    }
    lua_pop(L, 1);
    return false;
  });
}

// _script_locals() -> name -> value for the locals of the script's active functions, also of the functions
// that a console line sees. Of several locals with one name the innermost counts.
int script_locals(lua_State* L) {
  lua_newtable(L);
  add_locals(L, L);
  lua_State* const script = seen_script(L);
  if (script) add_locals(L, script);
  lua_State* const main = binding_state(L).main;
  if (main != L && main != script) add_locals(L, main);
  return 1;
}

constexpr luaL_Reg kFunctions[] = {{"_seen", guard<seen>},
                                   {"_hash", guard<hash>},
                                   {"_version", guard<version>},
                                   {"_script_locals", guard<script_locals>},
                                   {nullptr, nullptr}};

}  // namespace

void add_part_surgery(Parts& all) {
  all.bindings.push_back([](lua_State* L, int core) {
    lua_pushvalue(L, core);
    luaL_setfuncs(L, kFunctions, 0);
    lua_pop(L, 1);
  });
}

}  // namespace lunagrad
