// The functions of lunagrad.core that lg.optim calls: a StepList collects the tensors of a parameter group
// once, and the fused steps run over it. Lua refers by name to a rule of runtime/optimizer/optimizers.def,
// its numbers and its states.
#include <algorithm>
#include <bit>
#include <string_view>

#include "runtime/ops.h"
#include "runtime/optimizer/rules.h"
#include "runtime/tape/used_gradients.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"
#include "script/lua/user_type.h"
#include "script/session/session_thread.h"

namespace lunagrad {
namespace {

// Parameters and their states, column after column: a column for each state, with a tensor for each
// parameter. Gradients are read from the parameters at each step.
struct StepList {
  TensorList params, states;
  uint32_t mask;  // bit k: state k of the rule has a column
  std::vector<bool> had_grad;
  // Device and type of a parameter at the last call of same_grads.
  struct Place {
    Device* device;
    DType dtype;
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> places = {};
  uint64_t last_id = 0;  // id of the newest tensor at the optimizer's last step
};

constexpr UserType<StepList> kStepList("lunagrad.StepList", "StepList");

// step_list(params, mask, column, …) -> StepList. fused_step returns the mask. A list that is only for
// same_grads needs no mask and no columns.
int step_list(lua_State* L) {
  const int64_t mask = lua_isnoneornil(L, 2) ? 0 : check_integer(L, 2, "optim");
  if (mask < 0 || mask >= int64_t(1) << kMostStates) bad_argument(L, 2, "optim", "not a mask of states");
  StepList list{check_tensors(L, 1, "optim"), {}, uint32_t(mask), {}};
  for (int i = 3; i <= lua_gettop(L); ++i) {
    const TensorList column = check_tensors(L, i, "optim");
    if (column.size() != list.params.size())
      fail("optim: ", list.params.size(), " parameters but ", column.size(), " states");
    list.states.insert(list.states.end(), column.begin(), column.end());
  }
  const size_t columns = size_t(std::popcount(list.mask));
  if (list.states.size() != columns * list.params.size())
    fail("optim: the mask needs ", columns, " columns of states");
  kStepList.push(L, std::make_shared<StepList>(std::move(list)));
  return 1;
}

// same_grads(list) -> whether the same parameters have a gradient as at the previous call, and no parameter
// has changed its device or type. The first call returns false.
int same_grads(lua_State* L) {
  const std::shared_ptr<StepList> held = kStepList.check(L, 1, "optim");
  StepList& list = *held;
  bool same = list.had_grad.size() == list.params.size();
  list.had_grad.resize(list.params.size());
  list.places.resize(list.params.size());
  for (size_t i = 0; i < list.params.size(); ++i) {
    const bool has = list.params[i].grad().defined();
    same &= list.had_grad[i] == has;
    list.had_grad[i] = has;
    const StepList::Place place{&list.params[i].device(), list.params[i].dtype()};
    same &= list.places[i] == place;
    list.places[i] = place;
  }
  lua_pushboolean(L, same);
  return 1;
}

Rule check_rule(lua_State* L, int argument) {
  const std::string_view name = check_string(L, argument, "optim");
  for (int i = 0; i < kRuleCount; ++i)
    if (name == rule_traits(Rule(i)).name) return Rule(i);
  fail("optim: there is no rule '", name, "'");
}

// Reads the numbers of a rule from the fields of a table. Other fields are ignored.
Arguments check_numbers(lua_State* L, int argument, Rule rule) {
  if (!lua_istable(L, argument)) wrong_type(L, argument, "optim", "table");
  const RuleTraits& traits = rule_traits(rule);
  Arguments arguments{};
  for (size_t i = 0; i < traits.numbers.size(); ++i) {
    const int type = lua_getfield(L, argument, traits.numbers[i].name);
    if (type != LUA_TNUMBER && type != LUA_TBOOLEAN)
      fail(traits.op_name, ": the number '", traits.numbers[i].name, "' is a ", lua_typename(L, type));
    set_number(rule, i, type == LUA_TBOOLEAN ? lua_toboolean(L, -1) : lua_tonumber(L, -1), arguments);
    lua_pop(L, 1);
  }
  return arguments;
}

// Pushes a list with the names of the states in `mask`.
void push_states(lua_State* L, Rule rule, uint32_t mask) {
  lua_newtable(L);
  const auto states = rule_traits(rule).states;
  for (size_t i = 0, n = 0; i < states.size(); ++i) {
    if (!(mask >> i & 1)) continue;
    lua_pushstring(L, states[i].name);
    lua_rawseti(L, -2, lua_Integer(++n));
  }
}

// fused_step(list, rule, numbers): makes a step over the parameters of the list, with their gradients and
// states. If the list is nil, or does not have the states that these numbers need, it makes no step and
// returns the names of the needed states and their mask.
int fused_step(lua_State* L) {
  const Rule rule = check_rule(L, 2);
  const Arguments arguments = check_numbers(L, 3, rule);
  const uint32_t mask = rule_states(rule, arguments);
  const std::shared_ptr<StepList> list = lua_isnil(L, 1) ? nullptr : kStepList.check(L, 1, "optim");
  if (!list || list->mask != mask) {
    push_states(L, rule, mask);
    lua_pushinteger(L, lua_Integer(mask));
    return 2;
  }
  mark_line(L);
  Operands tensors;
  tensors.reserve(2 * list->params.size() + list->states.size());
  for (const Tensor& x : list->params) tensors.push_back(x);
  for (const Tensor& x : list->params) {
    tensors.push_back(x.grad());
    if (!tensors.back().defined()) fail("optim: a parameter lost its gradient during the step");
  }
  for (const Tensor& x : list->states) tensors.push_back(x);
  optimizer_step(rule, std::move(tensors), arguments);
  after_op(L);
  return 0;
}

// rule_states(rule, settings) -> the names of the states that a step with these settings needs, and the names
// of all states of the rule. A number missing from the settings does not rule out a state.
int rule_states_by_name(lua_State* L) {
  const Rule rule = check_rule(L, 1);
  if (!lua_istable(L, 2)) wrong_type(L, 2, "optim", "table");
  const RuleTraits& traits = rule_traits(rule);
  Arguments arguments = sample_arguments(rule);
  for (size_t i = 0; i < traits.numbers.size(); ++i) {
    const int type = lua_getfield(L, 2, traits.numbers[i].name);
    const bool given = type == LUA_TNUMBER || type == LUA_TBOOLEAN;
    if (given && traits.numbers[i].kind != RuleNumber::Kind::count)
      set_number(rule, i, type == LUA_TBOOLEAN ? lua_toboolean(L, -1) : lua_tonumber(L, -1), arguments);
    lua_pop(L, 1);
  }
  push_states(L, rule, rule_states(rule, arguments));
  push_states(L, rule, kStateMasks[size_t(rule)].all);
  return 2;
}

// stepped(list): an optimizer has made its step over those parameters of the list that have a gradient.
int stepped(lua_State* L) {
  const std::shared_ptr<StepList> held = kStepList.check(L, 1, "optim");
  StepList& list = *held;
  if (!list.params.empty()) list.last_id = list.params.front().detach().id();
  if (!binding_state(L).safe_point_data) return 0;
  const auto first = std::find_if(list.params.begin(), list.params.end(),
                                  [](const Tensor& x) { return x.grad().defined(); });
  if (first != list.params.end() && use_gradient(*first))
    SessionThread::of(L).warn_once(L,
                                   "the gradients also hold gradients of an earlier step, which were not "
                                   "cleared; write optimizer:zero_grad() "
                                   "before loss:backward()");
  FiniteSentry& sentry = SessionThread::of(L).viewers().sentry();
  TensorList changed;
  if (sentry.looks_at_gradients()) {
    for (const Tensor& x : list.params)
      if (x.grad().defined()) changed.push_back(x);
    mark_line(L);
  }
  sentry.stepped(changed);
  if (StatisticsWatch& statistics = SessionThread::of(L).viewers().statistics(); statistics.looking()) {
    mark_line(L);
    statistics.optimized(list.params);
  }
  return 0;
}

// used_gradients(list) -> for each parameter, whether the optimizer's last step used its gradient. A pass
// that adds to a gradient makes a new tensor.
int used_gradients(lua_State* L) {
  const std::shared_ptr<StepList> held = kStepList.check(L, 1, "optim");
  const StepList& list = *held;
  lua_createtable(L, int(list.params.size()), 0);
  for (size_t i = 0; i < list.params.size(); ++i) {
    const Tensor gradient = list.params[i].grad();
    lua_pushboolean(L, gradient.defined() && gradient.id() <= list.last_id);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  return 1;
}

// stepped_in_vain(): an optimizer has made its step although no parameter had a gradient.
int stepped_in_vain(lua_State* L) {
  if (binding_state(L).safe_point_data)
    SessionThread::of(L).warn_once(
        L,
        "no parameter has a gradient, so the step changed nothing; loss:backward() makes them, after "
        "zero_grad() and before step()");
  return 0;
}

// ema_step(averages, values, decay)
int ema_step(lua_State* L) {
  Operands tensors(check_tensors(L, 1, "EMA"));
  const size_t count = tensors.size();
  for (const Tensor& x : check_tensors(L, 2, "EMA")) tensors.push_back(x);
  if (tensors.size() != 2 * count) fail("EMA: ", count, " averages but ", tensors.size() - count, " values");
  const NamedNumber numbers[] = {{"decay", check_number(L, 3, "EMA")}};
  mark_line(L);
  optimizer_step(Rule::ema, std::move(tensors), rule_arguments(Rule::ema, numbers));
  after_op(L);
  return 0;
}

// clip_grad_norm_(grads, max_norm, norm_type)
int clip_gradients(lua_State* L) {
  constexpr const char* kName = "clip_grad_norm_";
  push_result(L, clip_grad_norm_(check_tensors(L, 1, kName), check_number(L, 2, kName),
                                 lua_isnoneornil(L, 3) ? 2 : check_number(L, 3, kName)));
  after_op(L);
  return 1;
}

constexpr luaL_Reg kOptimizerFunctions[] = {{"_step_list", guard<step_list>},
                                            {"_same_grads", guard<same_grads>},
                                            {"_fused_step", guard<fused_step>},
                                            {"_rule_states", guard<rule_states_by_name>},
                                            {"_stepped", guard<stepped>},
                                            {"_used_gradients", guard<used_gradients>},
                                            {"_stepped_in_vain", guard<stepped_in_vain>},
                                            {"_ema_step", guard<ema_step>},
                                            {"_clip_grad_norm_", guard<clip_gradients>},
                                            {nullptr, nullptr}};

}  // namespace

void bind_optim(lua_State* L, int core, int) {
  kStepList.define(L);
  lua_pop(L, 1);
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kOptimizerFunctions, 0);
  lua_newtable(L);  // the names of all rules
  for (int i = 0; i < kRuleCount; ++i) {
    lua_pushstring(L, rule_traits(Rule(i)).name);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, "_optimizer_rules");
  lua_pop(L, 1);
}

}  // namespace lunagrad
