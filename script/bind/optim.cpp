// What lg.optim needs from the engine: the tensors of a group collected once (a StepList), and the fused
// steps over them.
#include <algorithm>
#include <array>

#include "runtime/ops.h"
#include "script/lua/convert.h"
#include "script/lua/edge.h"
#include "script/session/impl.h"

namespace lunagrad {
namespace {

constexpr const char* kStepList = "lunagrad.StepList";

// Parameters and the columns of their states, one after the other. Gradients come anew at each step.
struct StepList {
  TensorList params, states;
  std::vector<bool> had_grad;
};

StepList& check_step_list(lua_State* L, int argument) {
  void* const memory = luaL_testudata(L, argument, kStepList);
  if (!memory) wrong_type(L, argument, "optim", "StepList");
  return *static_cast<StepList*>(memory);
}

int collect(lua_State* L) {
  check_step_list(L, 1).~StepList();
  return 0;
}

// step_list(params, column, …)
int step_list(lua_State* L) {
  StepList list{check_tensors(L, 1, "optim"), {}, {}};
  for (int i = 2; i <= lua_gettop(L); ++i) {
    const TensorList column = check_tensors(L, i, "optim");
    if (column.size() != list.params.size())
      fail("optim: ", list.params.size(), " parameters but ", column.size(), " states");
    list.states.insert(list.states.end(), column.begin(), column.end());
  }
  if (edge(L).safe_point_data) Session::Impl::of(L).viewers().statistics().optimized(list.params);
  new (lua_newuserdatauv(L, sizeof(StepList), 0)) StepList(std::move(list));
  luaL_setmetatable(L, kStepList);
  return 1;
}

// same_grads(list): whether the parameters that have a gradient are those that had one at the last call.
int same_grads(lua_State* L) {
  StepList& list = check_step_list(L, 1);
  bool same = list.had_grad.size() == list.params.size();
  list.had_grad.resize(list.params.size());
  for (size_t i = 0; i < list.params.size(); ++i) {
    const bool has = list.params[i].grad().defined();
    same &= list.had_grad[i] == has;
    list.had_grad[i] = has;
  }
  lua_pushboolean(L, same);
  return 1;
}

// fused_step(list, op, number, …): parameters, their gradients and the states are the operands.
int fused_step(lua_State* L) {
  const StepList& list = check_step_list(L, 1);
  const Op* const op = find_op(check_string(L, 2, "optim"));
  if (!op) fail("optim: there is no op ", check_string(L, 2, "optim"));
  std::array<double, std::tuple_size_v<Arguments>> numbers;
  const size_t count = std::min(numbers.size(), size_t(lua_gettop(L) - 2));
  for (size_t i = 0; i < count; ++i)
    numbers[i] =
        lua_isboolean(L, int(i) + 3) ? lua_toboolean(L, int(i) + 3) : check_number(L, int(i) + 3, "optim");
  mark_line(L);
  Operands tensors;
  tensors.reserve(2 * list.params.size() + list.states.size());
  for (const Tensor& x : list.params) tensors.push_back(x);
  for (const Tensor& x : list.params) {
    tensors.push_back(x.grad());
    if (!tensors.back().defined()) fail("optim: a parameter lost its gradient during the step");
  }
  for (const Tensor& x : list.states) tensors.push_back(x);
  optimizer_step(*op, std::move(tensors), {numbers.data(), count});
  after_op(L);
  return 0;
}

// ema_step(averages, values, decay)
int ema_step(lua_State* L) {
  static const Op* const op = find_op("_ema_step");
  Operands tensors(check_tensors(L, 1, "EMA"));
  for (const Tensor& x : check_tensors(L, 2, "EMA")) tensors.push_back(x);
  const double decay = check_number(L, 3, "EMA");
  mark_line(L);
  optimizer_step(*op, std::move(tensors), {&decay, 1});
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

constexpr luaL_Reg kFunctions[] = {{"_step_list", guard<step_list>},
                                   {"_same_grads", guard<same_grads>},
                                   {"_fused_step", guard<fused_step>},
                                   {"_ema_step", guard<ema_step>},
                                   {"_clip_grad_norm_", guard<clip_gradients>},
                                   {nullptr, nullptr}};

}  // namespace

void bind_optim(lua_State* L, int core, int) {
  luaL_newmetatable(L, kStepList);
  lua_pushcfunction(L, guard<collect>);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kFunctions, 0);
  lua_pop(L, 1);
}

}  // namespace lunagrad
