// The functions of lunagrad.core that lg.distributed calls, in the table _world: the world of ranks, its
// collectives, calls after gradients have arrived, and the memory of unsharded parameters. Ranks count from
// 0, as in MPI.
#include <cmath>
#include <memory>

#include "runtime/dist/world.h"
#include "runtime/tape/after.h"
#include "runtime/tape/leaf_notes.h"
#include "runtime/tape/tape.h"
#include "runtime/tape/unsharded.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/function.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"
#include "script/lua/user_type.h"

namespace lunagrad {
namespace {

constexpr UserType<dist::Pending> kPending("lunagrad.Pending", "handle of a collective");
constexpr const char* kWatch = "lunagrad.Whereabouts";
constexpr UserType<LeafNote> kNote("lunagrad.LeafNote", "note of leaves");

// ---- collectives

int push_pending(lua_State* L, dist::Pending pending) {
  kPending.push(L, std::make_shared<dist::Pending>(std::move(pending)));
  return 1;
}

// Writes the time of the collective into the notes of note_leaves, when argument 2 is a list of them.
void note_seconds(lua_State* L, const dist::Pending& pending) {
  for (lua_Integer i = 1, n = lua_istable(L, 2) ? lua_Integer(lua_rawlen(L, 2)) : 0; i <= n; ++i) {
    lua_rawgeti(L, 2, i);
    if (const std::shared_ptr<LeafNote> note = kNote.find(L, -1)) note->seconds = pending.seconds();
    lua_pop(L, 1);
  }
}

// wait(handle, notes) -> result, rows of each rank (all_gather, all_to_all)
int wait_for(lua_State* L) {
  const std::shared_ptr<dist::Pending> pending = kPending.check(L, 1, "wait");
  push_result(L, pending->wait());
  note_seconds(L, *pending);
  lua_newtable(L);
  const std::vector<int64_t>& rows = dist::rows_from_ranks();
  for (size_t i = 0; i < rows.size(); ++i) {
    lua_pushinteger(L, lua_Integer(rows[i]));
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  after_op(L);
  return 2;
}

// wait_list(handle, notes) -> {results}
int wait_for_list(lua_State* L) {
  const std::shared_ptr<dist::Pending> pending = kPending.check(L, 1, "wait");
  const TensorList results = pending->wait_list();
  note_seconds(L, *pending);
  lua_createtable(L, int(results.size()), 0);
  for (size_t i = 0; i < results.size(); ++i) {
    push_result(L, results[i]);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  after_op(L);
  return 1;
}

int is_done(lua_State* L) {
  lua_pushboolean(L, kPending.check(L, 1, "is_done")->done());
  return 1;
}

std::string label_at(lua_State* L, int argument) {
  return lua_isnoneornil(L, argument) ? std::string() : std::string(check_string(L, argument, "distributed"));
}

std::vector<int64_t> sizes_at(lua_State* L, int argument, const char* name) {
  if (lua_isnoneornil(L, argument)) return {};
  if (!lua_istable(L, argument)) wrong_type(L, argument, name, "list of sizes");
  std::vector<int64_t> sizes;  // a world may have more ranks than a tensor has dims
  for (lua_Integer i = 1, n = list_length(L, argument, argument, name); i <= n; ++i) {
    lua_rawgeti(L, argument, i);
    if (!lua_isinteger(L, -1)) fail(name, ": size ", i, " is no integer");
    sizes.push_back(lua_tointeger(L, -1));
    lua_pop(L, 1);
  }
  return sizes;
}

// all_reduce_(x, reduction, label)
int all_reduce(lua_State* L) {
  constexpr const char* kName = "all_reduce_";
  mark_line(L);
  return push_pending(
      L, dist::all_reduce_(check_tensor(L, 1, kName), dist::reduction_of(kName, check_string(L, 2, kName)),
                           label_at(L, 3)));
}

// broadcast_(x, root, label)
int broadcast(lua_State* L) {
  mark_line(L);
  return push_pending(L, dist::broadcast_(check_tensor(L, 1, "broadcast_"),
                                          int(check_integer(L, 2, "broadcast_")), label_at(L, 3)));
}

// all_gather(x, label)
int all_gather(lua_State* L) {
  mark_line(L);
  return push_pending(L, dist::all_gather(check_tensor(L, 1, "all_gather"), label_at(L, 2)));
}

// reduce_scatter(x, reduction, sizes, label)
int reduce_scatter(lua_State* L) {
  constexpr const char* kName = "reduce_scatter";
  mark_line(L);
  return push_pending(
      L, dist::reduce_scatter(check_tensor(L, 1, kName), dist::reduction_of(kName, check_string(L, 2, kName)),
                              sizes_at(L, 3, kName), label_at(L, 4)));
}

// all_to_all(x, sizes)
int all_to_all(lua_State* L) {
  mark_line(L);
  return push_pending(L, dist::all_to_all(check_tensor(L, 1, "all_to_all"), sizes_at(L, 2, "all_to_all")));
}

// The list of tensors at `argument`, and after it the list of their rows on each rank.
dist::RowsOfRanks rows_at(lua_State* L, int argument, const char* name) {
  luaL_checktype(L, argument, LUA_TTABLE);
  luaL_checktype(L, argument + 1, LUA_TTABLE);
  dist::RowsOfRanks rows;
  for (lua_Integer i = 1, n = list_length(L, argument, argument, name); i <= n; ++i) {
    lua_rawgeti(L, argument + 1, i);
    rows.push_back(sizes_at(L, lua_gettop(L), name));
    lua_pop(L, 1);
  }
  return rows;
}

// all_gather_list(list, rows, label)
int all_gather_list(lua_State* L) {
  constexpr const char* kName = "all_gather";
  mark_line(L);
  const dist::RowsOfRanks rows = rows_at(L, 1, kName);
  return push_pending(L, dist::all_gather(check_tensors(L, 1, kName), rows, label_at(L, 3)));
}

// reduce_scatter_list(list, rows, reduction, label): frees the memory of tensors to which only the list
// refers.
int reduce_scatter_list(lua_State* L) {
  constexpr const char* kName = "reduce_scatter";
  mark_line(L);
  const dist::RowsOfRanks rows = rows_at(L, 1, kName);
  std::vector<const Tensor*> list;  // the Lua table keeps them alive
  for (lua_Integer i = 1, n = list_length(L, 1, 1, kName); i <= n; ++i) {
    lua_rawgeti(L, 1, i);
    list.push_back(&check_tensor(L, -1, kName));
    lua_pop(L, 1);
  }
  return push_pending(L, dist::reduce_scatter(list, dist::reduction_of(kName, check_string(L, 3, kName)),
                                              rows, label_at(L, 4)));
}

// send(x, to, label)
int send_to(lua_State* L) {
  mark_line(L);
  return push_pending(
      L, dist::send(check_tensor(L, 1, "send"), int(check_integer(L, 2, "send")), label_at(L, 3)));
}

// receive(from, label)
int receive_from(lua_State* L) {
  mark_line(L);
  return push_pending(L, dist::receive(int(check_integer(L, 1, "receive")), label_at(L, 2)));
}

int barrier(lua_State* L) {
  mark_line(L);
  dist::barrier();
  after_op(L);
  return 0;
}

// ---- the world

int forget(lua_State*) {
  dist::forget_whereabouts();
  forget_leaf_notes();
  return 0;
}

// Notes that this state has opened the world. `watched`: the world drops what this state registered when the
// state is closed.
void note_opened(lua_State* L, bool watched) {
  lua_newuserdatauv(L, 1, 0);
  if (watched) luaL_setmetatable(L, kWatch);
  lua_setfield(L, LUA_REGISTRYINDEX, "lunagrad.world");
}

// init(patience, identity). A world that an earlier Lua state of the process opened stays open.
int init(lua_State* L) {
  if (dist::is_world_open()) {
    if (lua_getfield(L, LUA_REGISTRYINDEX, "lunagrad.world") == LUA_TNIL) note_opened(L, false);
    return 0;
  }
  if (binding_state(L).files.limited) fail("init: a sandboxed script runs alone");
  dist::WorldOptions options;
  options.patience = check_number(L, 1, "init");
  if (!(options.patience > 0)) fail("init: timeout ", options.patience, " is not above 0 seconds");
  options.identity = check_string(L, 2, "init");
  // Another thread reads this while this thread writes it: at worst a report names the line of the previous
  // op.
  const volatile SourceLine* const line = &context().line;
  options.whereabouts = [line] {
    SourceLine now;
    now.file = line->file;
    now.line = line->line;
    return to_string(now);
  };
  mark_line(L);
  dist::open_world(std::move(options));
  note_opened(L, true);  // `line` is invalid once the state is closed
  return 0;
}

template <auto function>
int number(lua_State* L) {
  lua_pushinteger(L, function());
  return 1;
}

int leads(lua_State* L) {
  lua_pushboolean(L, dist::leads());
  return 1;
}

int is_open(lua_State* L) {
  lua_pushboolean(L,
                  dist::is_world_open() && lua_getfield(L, LUA_REGISTRYINDEX, "lunagrad.world") != LUA_TNIL);
  return 1;
}

// ---- gradients

// The Lua function as a function without arguments and results.
std::function<void()> function_at(lua_State* L, int argument, const char* name) {
  check_callable(L, argument, name);
  const auto function = std::make_shared<LuaFunction>(L, argument);
  return [function] { function->call({}, ""); };
}

// after_accumulation(x, f) -> id for remove
int after(lua_State* L) {
  lua_pushinteger(L, lua_Integer(after_accumulation(check_tensor(L, 1, "hook"), function_at(L, 2, "hook"))));
  return 1;
}

int remove_after(lua_State* L) {
  remove_hook(check_tensor(L, 1, "hook"), uint64_t(check_integer(L, 2, "hook")));
  return 0;
}

int at_end(lua_State* L) {
  at_end_of_backward(function_at(L, 1, "hook"));
  return 0;
}

int pass_number(lua_State* L) {
  lua_pushinteger(L, lua_Integer(backward_pass_number()));
  return 1;
}

// note_leaves(list, way, bytes, op, rest) -> a note for wait
int note(lua_State* L) {
  constexpr const char* kName = "note_leaves";
  const TensorList leaves = check_tensors(L, 1, kName);
  auto made = std::make_shared<LeafNote>();
  made->way = check_string(L, 2, kName);
  made->bytes = check_number(L, 3, kName);
  made->op = check_string(L, 4, kName);
  made->rest = label_at(L, 5);
  note_leaves(leaves, made);
  kNote.push(L, std::move(made));
  return 1;
}

// ---- memory of unsharded parameters

// unshard(x, value, source): x gets the memory of value, whose elements were copied from source.
int unshard(lua_State* L) {
  unshard_memory(check_tensor(L, 1, "unshard"), check_tensor(L, 2, "unshard"), check_tensor(L, 3, "unshard"));
  return 0;
}

// reshard(x): removes the memory of x.
int reshard(lua_State* L) {
  reshard_memory(check_tensor(L, 1, "reshard"));
  return 0;
}

// free(list): frees the memory of tensors to which only their Lua handles refer and which Lua's collector has
// not collected yet. Goes from last to first, since a view refers to its base tensor.
int free_handles(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  for (lua_Integer i = lua_Integer(lua_rawlen(L, 1)); i >= 1; --i) {
    lua_rawgeti(L, 1, i);
    if (const Tensor& x = check_tensor(L, -1, "free"); x.use_count() == 1) reshard_memory(x);
    lua_pop(L, 1);
  }
  return 0;
}

// run_unsharded(list, again, f, …) -> whether backward may call again(), the results of f(…)
int run_with_unsharded(lua_State* L) {
  constexpr const char* kName = "run_unsharded";
  const TensorList list = check_tensors(L, 1, kName);
  std::function<void()> again = function_at(L, 2, kName);
  const int count = lua_gettop(L) - 3;
  const bool needed = run_unsharded(
      std::move(list), [&] { lua_call(L, count, LUA_MULTRET); }, std::move(again));
  lua_pushboolean(L, needed);
  lua_replace(L, 2);
  return lua_gettop(L) - 1;
}

constexpr luaL_Reg kFunctions[] = {{"init", guard<init>},
                                   {"is_open", guard<is_open>},
                                   {"leads", guard<leads>},
                                   {"rank", guard<number<dist::rank>>},
                                   {"size", guard<number<dist::size>>},
                                   {"local_rank", guard<number<dist::local_rank>>},
                                   {"launched_size", guard<number<dist::launched_size>>},
                                   {"all_reduce_", guard<all_reduce>},
                                   {"broadcast_", guard<broadcast>},
                                   {"all_gather", guard<all_gather>},
                                   {"reduce_scatter", guard<reduce_scatter>},
                                   {"all_to_all", guard<all_to_all>},
                                   {"all_gather_list", guard<all_gather_list>},
                                   {"reduce_scatter_list", guard<reduce_scatter_list>},
                                   {"send", guard<send_to>},
                                   {"receive", guard<receive_from>},
                                   {"barrier", guard<barrier>},
                                   {"wait", guard<wait_for>},
                                   {"wait_list", guard<wait_for_list>},
                                   {"is_done", guard<is_done>},
                                   {"after_accumulation", guard<after>},
                                   {"remove_after", guard<remove_after>},
                                   {"at_end_of_backward", guard<at_end>},
                                   {"pass_number", guard<pass_number>},
                                   {"note_leaves", guard<note>},
                                   {"unshard", guard<unshard>},
                                   {"reshard", guard<reshard>},
                                   {"free", guard<free_handles>},
                                   {"run_unsharded", guard<run_with_unsharded>},
                                   {nullptr, nullptr}};

}  // namespace

void bind_distributed(lua_State* L, int core, int) {
  kPending.define(L);
  kNote.define(L);
  luaL_newmetatable(L, kWatch);
  lua_pushcfunction(L, guard<forget>);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 3);
  luaL_newlib(L, kFunctions);
  lua_setfield(L, core, "_world");
}

}  // namespace lunagrad
