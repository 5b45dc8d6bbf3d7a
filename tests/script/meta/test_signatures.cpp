// Every documented signature (`lunagrad help`) is right: all arguments at their
// positions, the parameters by name, and everything by name give the result of the record.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "runtime/core/context.h"
#include "runtime/ops.h"
#include "script/lua/convert.h"
#include "script/lua/state.h"
#include "script/meta/signature.h"
#include "tests/samples/samples.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// The parameters of the record that scripts see: the sample's by their names, else the fallbacks.
Values params_of(const Signature& signature, const Sample& sample) {
  if (signature.full == signature.op) return complete(*signature.op, sample.params);
  const Values given = complete(*signature.op, sample.params);
  Values params;
  for (const ParamSpec& spec : signature.full->params) {
    params.push_back(spec.fallback);
    for (size_t i = 0; i < signature.op->params.size(); ++i)
      if (signature.op->params[i].name == std::string_view(spec.name) &&
          spec.kind == signature.op->params[i].kind)
        params.back() = given[i];
  }
  return params;
}

// The calls, as Lua source. Operand i is the global x<i>.
struct Calls {
  std::string positional, named_params, named;
};
Calls calls_of(const Signature& signature, const Values& params, size_t operands) {
  std::vector<std::string> names, values;
  std::vector<bool> inputs;
  for (const Slot& slot : signature.slots) {
    std::string value = "nil";
    if (!slot.is_input) {
      value = print_value(signature.full->params[slot.index], params[slot.index]);
    } else if (signature.full->inputs[slot.index].list) {
      value = "{";
      for (size_t i = slot.index; i < operands; ++i) value += "x" + std::to_string(i) + ", ";
      value += "}";
    } else if (slot.index < operands) {
      value = "x" + std::to_string(slot.index);
    }
    names.push_back(slot.name);
    values.push_back(value);
    inputs.push_back(slot.is_input);
  }
  const std::string start = std::string("return lg.") + signature.op->name + "(";
  std::string positions, leading, options, all;
  bool leads = true;
  for (size_t i = 0; i < names.size(); ++i) {
    positions += (i ? ", " : "") + values[i];
    leads &= inputs[i];
    if (leads) leading += values[i] + ", ";
    if (values[i] == "nil") continue;
    // `end` is a keyword of Lua.
    const std::string entry = "[\"" + names[i] + "\"] = " + values[i] + ", ";
    if (!leads) options += entry;
    all += entry;
  }
  // A nil at the end is left out, as a user would.
  while (positions.ends_with(", nil")) positions.resize(positions.size() - 5);
  return {start + positions + ")", options.empty() ? "" : start + leading + "{" + options + "})",
          start + "{" + all + "})"};
}

bool same(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  const std::vector<double> x = numbers_of(a), y = numbers_of(b);
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
  return true;
}

}  // namespace

TEST_CASE("every documented signature is accepted, by position and by name") {
  Context own;
  const UseContext use(own);
  lua_State* const L = new_state({});
  open_lunagrad(L);
  REQUIRE(luaL_dostring(L, "lg = require 'lunagrad.core'") == LUA_OK);
  std::set<std::string> called;
  // Records whose result scripts get in another form, or whose arguments have a second meaning in lg.
  const std::set<std::string> apart{"empty"};
  for (const Sample& sample : samples()) {
    const Signature* const signature = find_signature(sample.op);
    if (!signature || signature->op->hidden() || apart.count(sample.op)) continue;
    if (!called.insert(sample.op).second) continue;
    TensorList inputs;
    for (size_t i = 0; i < sample.inputs.size(); ++i) {
      inputs.push_back(make_input(sample.inputs[i], i));
      if (inputs[i].defined()) {
        push_tensor(L, inputs[i]);
      } else {
        lua_pushnil(L);
      }
      lua_setglobal(L, ("x" + std::to_string(i)).c_str());
    }
    // A parameter of the record that is an operand for scripts, such as the value of masked_fill.
    const Values given = complete(*signature->op, sample.params);
    for (size_t i = 0; i < given.size(); ++i)
      if (inputs.size() < signature->full->inputs.size() && given[i].kind == Value::Kind::real &&
          std::string_view(signature->full->inputs[inputs.size()].name) == signature->op->params[i].name) {
        lua_pushnumber(L, given[i].f);
        lua_setglobal(L, ("x" + std::to_string(inputs.size())).c_str());
        inputs.push_back(Tensor::number(given[i].f));
      }
    const Values params = params_of(*signature, sample);
    const Calls calls = calls_of(*signature, params, inputs.size());
    for (const std::string& code : {calls.positional, calls.named_params, calls.named}) {
      if (code.empty()) continue;
      INFO(name_of(sample), ": ", code);
      own.generator.seed(5);
      Operands expected;
      {
        const NoGrad off;
        Operands operands;
        for (const Tensor& x : inputs) operands.push_back(x);
        expected = apply(*signature->full, std::move(operands), params);
      }
      own.generator.seed(5);
      lua_settop(L, 0);
      const int status =
          luaL_loadstring(L, code.c_str()) == LUA_OK ? lua_pcall(L, 0, LUA_MULTRET, 0) : LUA_ERRSYNTAX;
      const std::string message = status == LUA_OK ? "" : lua_tostring(L, -1);
      CHECK_MESSAGE(status == LUA_OK, message);
      if (status != LUA_OK) continue;
      REQUIRE(lua_gettop(L) >= 1);
      const Tensor* const result = to_tensor(L, 1);
      REQUIRE(result);
      CHECK(same(*result, expected[0]));
    }
  }
  CHECK(called.size() > 200);
  close_state(L);
}
