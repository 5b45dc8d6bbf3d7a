#include "script/bind/surgery.h"

#include <utility>

#include "runtime/hash.h"
#include "runtime/ops.h"
#include "script/lua/console_scope.h"
#include "script/lua/convert.h"
#include "script/lua/edge.h"

namespace lunagrad {
namespace {

constexpr const char* kSeenType = "lunagrad.SeenCall";
constexpr const char* kSeenField = "_seen";

struct SeenCall {
  SeenOperands inputs, outputs;
};

int free_seen(lua_State* L) {
  static_cast<SeenCall*>(luaL_checkudata(L, 1, kSeenType))->~SeenCall();
  return 0;
}

// Pushes a list with {shape =, dtype =, device =} for each tensor and false for each other value.
void push_operands(lua_State* L, const SeenOperands& seen) {
  lua_createtable(L, seen.count, 0);
  for (int i = 0; i < seen.count; ++i) {
    const bool known = i < SeenOperands::kMost && seen.operands[size_t(i)].layout;
    if (known) {
      const SeenOperands::Operand& operand = seen.operands[size_t(i)];
      lua_createtable(L, 0, 3);
      push_dims(L, operand.layout->shape);
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

// _seen(module) -> inputs, outputs of its latest call; nil when it was never called.
int seen(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_pushstring(L, kSeenField);
  lua_rawget(L, 1);
  const auto* const call = static_cast<SeenCall*>(luaL_testudata(L, -1, kSeenType));
  if (!call) return 0;
  push_operands(L, call->inputs);
  push_operands(L, call->outputs);
  return 2;
}

// _hash(value, …) -> a hash of the bits of tensors (elements in row-major order, without shape and type) and of
// strings.
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

// _version(tensor) -> grows with every write to the tensor's memory and with every replacement of it.
int version(lua_State* L) {
  lua_pushinteger(L, lua_Integer(check_tensor(L, 1, "version").storage().version));
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

// _script_locals() -> name -> value of the locals of the script's active functions, the innermost of a name; of
// those that a console line sees, too.
int script_locals(lua_State* L) {
  lua_newtable(L);
  add_locals(L, L);
  lua_State* const script = seen_script(L);
  if (script) add_locals(L, script);
  lua_State* const main = edge(L).main;
  if (main != L && main != script) add_locals(L, main);
  return 1;
}

constexpr luaL_Reg kFunctions[] = {{"_seen", guard<seen>},
                                   {"_hash", guard<hash>},
                                   {"_version", guard<version>},
                                   {"_script_locals", guard<script_locals>},
                                   {nullptr, nullptr}};

}  // namespace

void SeenOperands::note(lua_State* L, int first) {
  const int last = lua_gettop(L);
  count = last - first + 1;
  for (int i = first; i <= last && i - first < kMost; ++i)
    if (const Tensor* const x = to_tensor(L, i))
      operands[size_t(i - first)] = {x->layout(), x->dtype(), &x->device()};
}

void keep_seen(lua_State* L, int module, SeenOperands inputs, SeenOperands outputs) {
  lua_pushstring(L, kSeenField);
  lua_rawget(L, module);
  if (auto* const call = static_cast<SeenCall*>(luaL_testudata(L, -1, kSeenType))) {
    call->inputs = std::move(inputs);
    call->outputs = std::move(outputs);
    lua_pop(L, 1);
    return;
  }
  lua_pop(L, 1);
  lua_pushstring(L, kSeenField);
  new (lua_newuserdatauv(L, sizeof(SeenCall), 0)) SeenCall{std::move(inputs), std::move(outputs)};
  luaL_setmetatable(L, kSeenType);
  lua_rawset(L, module);
}

void bind_surgery(lua_State* L, int core) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kFunctions, 0);
  luaL_newmetatable(L, kSeenType);
  lua_pushcfunction(L, guard<free_seen>);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 2);
}

}  // namespace lunagrad
