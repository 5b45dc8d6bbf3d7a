#include "script/bind/surgery/bind.h"

#include <new>
#include <type_traits>

#include "runtime/core/hash.h"
#include "runtime/ops.h"
#include "script/lua/binding_state.h"
#include "script/lua/console_scope.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/size.h"

namespace lunagrad {
namespace {

constexpr char kMark = 0;  // its address marks a SeenCall
constexpr const char* kField = "_seen";

void note(lua_State* L, int first, SeenCall::Operands& noted) {
  const int last = lua_gettop(L);
  noted.count = last - first + 1;
  for (int i = first; i <= last && i - first < SeenCall::kMost; ++i) {
    SeenCall::Operand& operand = noted.operands[size_t(i - first)];
    const Tensor* const x = to_tensor(L, i);
    operand.tensor = x != nullptr;
    if (!x) continue;
    operand.dtype = x->dtype();
    operand.shape = x->shape();
    operand.device = &x->device();
  }
}

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

SeenCall* SeenCall::at_top(lua_State* L) {
  auto* const found = static_cast<SeenCall*>(lua_touserdata(L, -1));
  const bool is_one = found && lua_rawlen(L, -1) == sizeof(SeenCall) && found->mark_ == &kMark;
  return is_one ? found : nullptr;
}

SeenCall& SeenCall::push(lua_State* L, int module) {
  static_assert(std::is_trivially_destructible_v<SeenCall>);  // Lua frees it without calling a destructor
  lua_pushstring(L, kField);
  lua_rawget(L, module);
  if (SeenCall* const known = at_top(L)) return *known;
  lua_pop(L, 1);
  auto* const made = new (lua_newuserdatauv(L, sizeof(SeenCall), 0)) SeenCall(&kMark);
  lua_pushstring(L, kField);
  lua_pushvalue(L, -2);
  lua_rawset(L, module);
  return *made;
}

SeenCall* SeenCall::in(lua_State* L, int module) {
  lua_pushstring(L, kField);
  lua_rawget(L, module);
  SeenCall* const found = at_top(L);
  lua_pop(L, 1);
  return found;
}

uint32_t SeenCall::begin(lua_State* L, int first) {
  note(L, first, inputs_[1 - latest_]);
  return ++number_;
}

void SeenCall::end(lua_State* L, uint32_t number, int first) {
  if (number != number_) return;
  latest_ = 1 - latest_;
  note(L, first, outputs_);
}

void bind_surgery(lua_State* L, int core) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kFunctions, 0);
  lua_pop(L, 1);
}

}  // namespace lunagrad
