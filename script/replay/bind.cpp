// Bindings of calls that are put off: what lua/lunagrad/compile.lua builds lg.compile from, and
// lg.set_replay.
#include "runtime/deferral/defer.h"
#include "runtime/deferral/explain.h"
#include "script/lua/convert.h"
#include "script/lua/edge.h"
#include "script/replay/queue.h"
#include "script/replay/sealed.h"

namespace lunagrad {
namespace {

using Report = std::shared_ptr<const QueueReport>;
constexpr const char* kPlanType = "lunagrad.Plan";

int free_plan(lua_State* L) {
  static_cast<Report*>(luaL_checkudata(L, 1, kPlanType))->~Report();
  return 0;
}

// _defer(fn, ...): returns a plan and the results of fn(...). Its calls are put off, and computed at its end
// at the latest. The plan is nil inside of another function of lg.compile, which plans for both.
int defer(lua_State* L) {
  check_callable(L, 1, "compile");
  Edge& state = edge(L);
  CallQueue* const queue = state.replay == Replay::off ? nullptr : &queue_of(state).calls;
  const DeferCalls deferred(queue);
  const bool begins = queue && deferred.outermost();
  if (begins) queue->begin_report();
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  if (!begins) {
    lua_pushnil(L);
  } else {
    compute_queue(L, *queue);
    new (lua_newuserdatauv(L, sizeof(Report), 0)) Report(queue->report());
    luaL_setmetatable(L, kPlanType);
  }
  lua_insert(L, 1);
  return lua_gettop(L);
}

// _explain(plan) -> text
int explain_plan(lua_State* L) {
  push_string(L, explain(**static_cast<Report*>(luaL_checkudata(L, 1, kPlanType))));
  return 1;
}

// set_replay(on): true: every step of lg.run.steps puts its calls off, not only those that gain by it. false:
// nothing is put off, in functions of lg.compile either.
int set_replay(lua_State* L) {
  Edge& state = edge(L);
  const bool on = check_boolean(L, 1, "set_replay");
  if (state.replay_refused) return 0;
  if (state.queue) state.queue->calls.compute();
  state.replay = on ? Replay::always : Replay::off;
  return 0;
}

// is_replaying() -> whether calls are put off here.
int is_replaying(lua_State* L) {
  lua_pushboolean(L, context().queue != nullptr);
  return 1;
}

constexpr luaL_Reg kFunctions[] = {{"_defer", guard<defer>},
                                   {"_explain", guard<explain_plan>},
                                   {"set_replay", guard<set_replay>},
                                   {"is_replaying", guard<is_replaying>},
                                   {nullptr, nullptr}};

}  // namespace

void bind_replay(lua_State* L, int core) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kFunctions, 0);
  luaL_newmetatable(L, kPlanType);
  lua_pushcfunction(L, guard<free_plan>);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 2);
  bind_sealed(L, core);
}

}  // namespace lunagrad
