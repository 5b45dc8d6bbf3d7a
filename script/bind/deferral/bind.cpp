// Bindings of deferred calls: the functions from which lua/lunagrad/compile.lua builds lg.compile, and
// lg.set_deferred.
#include "runtime/deferral/defer.h"
#include "runtime/deferral/explain.h"
#include "script/bind/deferral/captured_function.h"
#include "script/bind/deferral/queue.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/user_type.h"

namespace lunagrad {
namespace {

// The state of a function of lg.compile.
struct Compiled {
  std::shared_ptr<const QueueReport> report;  // of its latest deferred call; null if there is none
  bool planned_outside = false;  // its latest call was deferred by an enclosing function, or not at all
  Trials trials{0};
};

constexpr UserType<Compiled> kCompiled("lunagrad.Compiled", "compiled function");

// _compiled() -> the state that _defer needs for a function
int make_compiled(lua_State* L) {
  kCompiled.push(L, std::make_shared<Compiled>());
  return 1;
}

// _defer(compiled, fn, ...): calls fn(...) with its ops deferred; they are computed when it returns at the
// latest. Inside of another deferred function the ops belong to that function's plan. A function that did not
// become faster by it runs eagerly until the next trial.
int defer(lua_State* L) {
  const std::shared_ptr<Compiled> held = kCompiled.check(L, 1, "compile");
  Compiled& compiled = *held;
  check_callable(L, 2, "compile");
  BindingState& state = binding_state(L);
  const bool outside = state.deferral == Deferral::off || context().queue;
  compiled.planned_outside = outside;
  if (outside || (state.deferral != Deferral::always && !compiled.trials.wants_step())) {
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    return lua_gettop(L) - 1;
  }
  CallQueue& queue = queue_of(state).calls;
  const DeferCalls deferred(&queue);
  queue.begin_report();
  lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
  compute_queue(L, queue);
  compiled.report = queue.report();
  compiled.trials.judge(*compiled.report, context().device->is_cpu());
  return lua_gettop(L) - 1;
}

// _explain(compiled) -> text
int explain_plan(lua_State* L) {
  const std::shared_ptr<Compiled> held = kCompiled.check(L, 1, "compile");
  const Compiled& compiled = *held;
  if (compiled.planned_outside) {
    push_string(L, "Its calls belong to the plan around it, or nothing is deferred.\n");
  } else if (!compiled.report) {
    push_string(L, "Not called yet.\n");
  } else {
    std::string plan = explain(*compiled.report);
    if (compiled.trials.eager() > 0)
      plan += "It gains too little by this plan, so its calls run as they are until the next trial.\n";
    push_string(L, plan);
  }
  return 1;
}

// set_deferred(on). true: every step of lg.run.steps defers its calls, not only the steps that gain by it.
// false: nothing is deferred, in functions of lg.compile either.
int set_deferred(lua_State* L) {
  BindingState& state = binding_state(L);
  const bool on = check_boolean(L, 1, "set_deferred");
  if (state.deferral_refused) return 0;
  if (state.queue) state.queue->calls.compute();
  state.deferral = on ? Deferral::always : Deferral::off;
  return 0;
}

// is_deferred() -> whether calls are deferred now
int is_deferred(lua_State* L) {
  lua_pushboolean(L, context().queue != nullptr);
  return 1;
}

constexpr luaL_Reg kDeferralFunctions[] = {
    {"_compiled", guard<make_compiled>}, {"_defer", guard<defer>},
    {"_explain", guard<explain_plan>},   {"set_deferred", guard<set_deferred>},
    {"is_deferred", guard<is_deferred>}, {nullptr, nullptr}};

}  // namespace

void bind_deferral(lua_State* L, int core) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kDeferralFunctions, 0);
  kCompiled.define(L);
  lua_pop(L, 2);
  bind_captured_functions(L, core);
}

}  // namespace lunagrad
