// Binds the functions from which lg.func (lua/lunagrad/func) builds vmap: levels, batched tensors, and the
// leaves of a graph. The names begin with an underscore, because scripts do not call them.
#include <algorithm>

#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "runtime/vmap/levels.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

// _vmap_enter(size, randomness) -> id
int enter(lua_State* L) {
  const int64_t size = check_integer(L, 1, "vmap");
  const std::string_view given = check_string(L, 2, "vmap");
  if (given != "error" && given != "different" && given != "same")
    fail("vmap: randomness is 'error', 'different' or 'same' (got '", given, "')");
  const Randomness randomness = given == "error"       ? Randomness::error
                                : given == "different" ? Randomness::different
                                                       : Randomness::same;
  lua_pushinteger(L, lua_Integer(enter_batch(size, randomness)));
  return 1;
}

int leave(lua_State* L) {
  leave_batch(uint64_t(check_integer(L, 1, "vmap")));
  return 0;
}

BatchLevel level_with(int64_t id) {
  const BatchLevels& levels = active_levels();
  const auto found = std::find_if(levels.begin(), levels.end(),
                                  [&](const BatchLevel& level) { return level.id == uint64_t(id); });
  if (found == levels.end()) fail("vmap: this vmap has ended");
  return *found;
}

// _batch(x, id) -> a sample: dim 1 becomes the level, which must be the innermost
int batch(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "vmap");
  const BatchLevel level = level_with(check_integer(L, 2, "vmap"));
  mark_line(L);
  push_result(L, into_level(x, level));
  return 1;
}

// _unbatch(y, id) -> the samples along dim 1; a y that is not batched is repeated
int unbatch(lua_State* L) {
  const Tensor& y = check_tensor(L, 1, "vmap");
  const BatchLevel level = level_with(check_integer(L, 2, "vmap"));
  mark_line(L);
  push_result(L, out_of_levels(y, {level}));
  return 1;
}

// _spread(x) -> x, batched at every running level, so that each sample has a gradient of its own
int spread_over_levels(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "grad");
  mark_line(L);
  push_result(L, active_levels().empty() ? x : make_batched(value_for(x, active_levels()), active_levels()));
  return 1;
}

// _is_batched(x)
int batched(lua_State* L) {
  lua_pushboolean(L, is_batched(check_tensor(L, 1, "vmap")));
  return 1;
}

// _physical(x) -> the samples of all levels at once, in leading dims; x itself outside of vmap
int physical(lua_State* L) {
  Tensor x = check_tensor(L, 1, "debug_unwrap");
  while (is_batched(x)) x = batch_value(x);
  push_tensor(L, x);
  return 1;
}

Tensor recorded(const Tensor& x) { return is_batched(x) ? batch_value(x) : x; }

// _reaches_others(outputs, inputs) -> whether the outputs depend on a leaf that is not one of the inputs
int reaches_others(lua_State* L) {
  const TensorList outputs = check_tensors(L, 1, "grad"), inputs = check_tensors(L, 2, "grad");
  std::vector<const Node*> own;
  for (const Tensor& x : inputs) own.push_back(x.node().get());
  bool found = false;
  for (const Tensor& y : outputs)
    for (const Node* node : nodes_of(recorded(y)))
      found |= node->is_leaf() && node->requires_grad && std::find(own.begin(), own.end(), node) == own.end();
  lua_pushboolean(L, found);
  return 1;
}

constexpr luaL_Reg kBatchingFunctions[] = {{"_vmap_enter", guard<enter>},
                                           {"_vmap_leave", guard<leave>},
                                           {"_batch", guard<batch>},
                                           {"_unbatch", guard<unbatch>},
                                           {"_spread", guard<spread_over_levels>},
                                           {"_is_batched", guard<batched>},
                                           {"_physical", guard<physical>},
                                           {"_reaches_others", guard<reaches_others>},
                                           {nullptr, nullptr}};

}  // namespace

void bind_batching(lua_State* L, int core, int) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kBatchingFunctions, 0);
  lua_pop(L, 1);
}

}  // namespace lunagrad
