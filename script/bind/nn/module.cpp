// Functions of lunagrad.core that the Lua library's nn and data call. Their names begin with an underscore,
// because scripts do not call them.
#include "runtime/core/terminal_text.h"
#include "runtime/ops.h"
#include "runtime/tape/other_names.h"
#include "runtime/tape/replace.h"
#include "script/bind/nn/module_path.h"
#include "script/bind/nn/seen_call.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/garbage.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

// --- nn: the path of the module that is running ---

class EnterModule {
 public:
  explicit EnterModule(uint32_t path) : context_(context()), previous_(context_.module) {
    context_.module = path;
  }
  ~EnterModule() { context_.module = previous_; }
  EnterModule(const EnterModule&) = delete;

 private:
  Context& context_;
  uint32_t previous_;
};

// call_module(label, f, module, …) -> the results of f(module, …). Ops that run inside record the module's
// path; the previous path is restored, also after an error. The module keeps the shapes of the call. label 0:
// the module has no name among its siblings (module_path.h).
int call_module(lua_State* L) {
  constexpr int kModule = 1, kSeen = 2;  // kModule takes the label's place, so that both stay on the stack
  constexpr int kCalled = 3;             // where the module is before that
  const EnterModule entered(path_of_call(L, uint32_t(lua_tointeger(L, 1)), kCalled));
  if (binding_state(L).called_modules != LUA_NOREF) [[unlikely]]
    remember_module(L, kCalled);
  luaL_checktype(L, kCalled, LUA_TTABLE);
  lua_pushvalue(L, kCalled);
  lua_replace(L, kModule);
  SeenCall& seen = SeenCall::push(L, kModule);
  lua_insert(L, kSeen);
  const uint32_t number = seen.begin(L, kCalled + 2);
  lua_call(L, lua_gettop(L) - 3, LUA_MULTRET);
  seen.end(L, number, kSeen + 1);
  return lua_gettop(L) - kSeen;
}

// module_label(name) -> the interned id of the name
int module_label(lua_State* L) {
  lua_pushinteger(L, intern(terminal_line(check_string(L, 1, "module_label"))));
  return 1;
}

// replace_data(x, value): x stays the same tensor and gets the memory, type and device of value.
int replace(lua_State* L) {
  const Tensor &x = check_tensor(L, 1, "to"), &value = check_tensor(L, 2, "to");
  mark_line(L);
  with_memory_retry(L, [&] { replace_data(x, value); });
  after_op(L);
  return 0;
}

// --- data: permutations and seeds ---

// A number below `bound` from 64 random bits (Lemire, "Fast random integer generation in an interval", 2019,
// without its rejection: the bias is bound / 2^64).
int64_t below(int64_t bound, uint64_t bits) {
  return int64_t((static_cast<unsigned __int128>(bits) * uint64_t(bound)) >> 64);
}

// permutation(n, seed, pass) -> i64 [n]: 0 … n-1 shuffled (Fisher-Yates); depends only on n, seed and pass.
int permutation(lua_State* L) {
  const int64_t n = check_integer(L, 1, "permutation");
  const uint64_t seed = uint64_t(check_integer(L, 2, "permutation"));
  const uint64_t pass = uint64_t(check_integer(L, 3, "permutation"));
  Tensor out = Tensor::empty({n}, DType::i64);
  int64_t* order = out.data<int64_t>();
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t i = n - 1; i > 0; --i) {
    const PhiloxBlock words = philox(seed, pass, uint64_t(i));
    std::swap(order[i], order[below(i + 1, uint64_t(words[0]) << 32 | words[1])]);
  }
  push_result(L, std::move(out));
  return 1;
}

// new_seed() -> a seed of 53 bits, drawn from the generator
int new_seed(lua_State* L) {
  const RandomDraw draw = context().generator.draw();
  const PhiloxBlock words = philox(draw.seed, draw.stream, 0);
  lua_pushinteger(L, lua_Integer((uint64_t(words[0]) << 32 | words[1]) >> 11));
  return 1;
}

constexpr luaL_Reg kModuleFunctions[] = {
    {"_call_module", guard<call_module>}, {"_module_label", guard<module_label>},
    {"_replace_data", guard<replace>},    {"_permutation", guard<permutation>},
    {"_new_seed", guard<new_seed>},       {"_module_names", guard<module_names>},
    {"_variables", guard<variables>},     {"_note_other_name", guard<note_shared>},
    {"_passes", guard<passes>},           {nullptr, nullptr}};

}  // namespace

void bind_module(lua_State* L, int core, int) {
  forget_other_names();  // of the script before
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kModuleFunctions, 0);
  lua_pop(L, 1);
}

}  // namespace lunagrad
