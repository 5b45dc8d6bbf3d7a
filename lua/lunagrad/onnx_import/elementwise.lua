-- Operators that work element by element.
local core = require "lunagrad.core"
local Call = require "lunagrad.onnx_import.call"

local M = {}

for op, name in pairs {
  Abs = "abs", Acos = "acos", Acosh = "acosh", And = "logical_and", Asin = "asin", Asinh = "asinh", Atan = "atan", Atanh = "atanh",
  Ceil = "ceil", Cos = "cos", Cosh = "cosh", Equal = "eq", Erf = "erf", Exp = "exp", Floor = "floor", Greater = "gt",
  GreaterOrEqual = "ge", HardSwish = "hardswish", IsNaN = "isnan", Less = "lt", LessOrEqual = "le", Log = "log", Mish = "mish",
  Mul = "mul", Neg = "neg", Not = "logical_not", Or = "logical_or", Pow = "pow", Reciprocal = "reciprocal", Relu = "relu",
  Round = "round", Sigmoid = "sigmoid", Sign = "sign", Sin = "sin", Sinh = "sinh", Softplus = "softplus", Softsign = "softsign",
  Sqrt = "sqrt", Sub = "sub", Tan = "tan", Tanh = "tanh", Xor = "logical_xor", Add = "add",
} do
  M[op] = function(call) return core[name](table.unpack(call, 1, #call.node.inputs)) end
end
-- pow keeps the type of its first operand.
function M.Pow(call) return core.pow(call[1], call[2]):to(call[1]:dtype()) end

-- Integer division rounds towards 0.
function M.Div(call)
  local a, b = call[1], call[2]
  if Call.is_floating(a) then return a / b end
  return core.div(a, b, "trunc"):to(a:dtype())
end

function M.Mod(call)
  return call:get("fmod", 0) == 1 and core.fmod(call[1], call[2]) or core.remainder(call[1], call[2])
end

-- An operator on any number of operands.
local function reduced_by(f)
  return function(call)
    local out = call[1]
    for i = 2, #call.node.inputs do out = f(out, call[i]) end
    return out
  end
end
M.Max, M.Min, M.Sum = reduced_by(core.maximum), reduced_by(core.minimum), reduced_by(core.add)
local sum = M.Sum
function M.Mean(call) return sum(call) / #call.node.inputs end

function M.BitShift(call)
  local factor = core.pow(2, call[2]:to "f64"):to(call[1]:dtype())
  if call:get "direction" == "LEFT" then return call[1] * factor end
  return core.floor_divide(call[1], factor)
end

function M.Clip(call)
  local low, high = call[2] or call.attributes.min, call[3] or call.attributes.max
  if not low and not high then return call[1] end
  return core.clamp(call[1], low, high)
end

function M.Where(call) return core.where(call[1], call[2], call[3]) end
function M.Identity(call) return call[1] end
function M.Cast(call)
  return call[1]:to(Call.dtypes[call:get "to"])
end
function M.CastLike(call) return call[1]:to(call[2]:dtype()) end

function M.IsInf(call)
  local x = call[1]
  local found = x:isinf()
  if call:get("detect_negative", 1) == 0 then found = found:logical_and(x:gt(0)) end
  if call:get("detect_positive", 1) == 0 then found = found:logical_and(x:lt(0)) end
  return found
end

function M.LeakyRelu(call) return core.leaky_relu(call[1], call:get("alpha", 0.01)) end
function M.Elu(call) return core.elu(call[1], call:get("alpha", 1.0)) end
function M.Celu(call) return core.celu(call[1], call:get("alpha", 1.0)) end
function M.Gelu(call) return core.gelu(call[1], call:get("approximate", "none")) end
function M.PRelu(call) return core.where(call[1]:gt(0), call[1], call[1] * call[2]) end
function M.ThresholdedRelu(call) return core.threshold(call[1], call:get("alpha", 1.0), 0.0) end
function M.HardSigmoid(call)
  return core.clamp(call[1] * call:get("alpha", 0.2) + call:get("beta", 0.5), 0.0, 1.0)
end
function M.Selu(call)
  local alpha, gamma = call:get("alpha", 1.67326319217681884765625), call:get("gamma", 1.05070102214813232421875)
  return core.elu(call[1], alpha) * gamma
end
function M.Shrink(call)
  local bias, lambda = call:get("bias", 0.0), call:get("lambd", 0.5)
  local x = call[1]
  return core.where(x:lt(-lambda), x + bias, core.where(x:gt(lambda), x - bias, core.zeros_like(x)))
end

function M.Dropout(call)
  local ratio = call[2] and call:number(2) or call:get("ratio", 0.5)
  local mask = core.ones_like(call[1], {dtype = "bool"})
  local training = call.model.training or call[3] and call:number(3) ~= 0
  if not training or ratio == 0 then return call[1], mask end
  if #call.node.outputs > 1 then
    mask = core.bernoulli(core.full_like(call[1], 1 - ratio)):to "bool"
    return core.where(mask, call[1] / (1 - ratio), core.zeros_like(call[1])), mask
  end
  return core.dropout(call[1], ratio, true)
end

return M
