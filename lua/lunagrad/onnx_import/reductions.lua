-- Sums, extremes, norms and softmaxes over dims.
local core = require "lunagrad.core"
local Call = require "lunagrad.onnx_import.call"

local M = {}
local dim = Call.dim

-- reduce(x, dims, keepdim); the axes are an operand from opset `since` on. Without axes all dims are reduced, or no
-- dims with noop_with_empty_axes.
local function reduction(since, reduce)
  return function(call)
    local axes, x = call:axes(2, since), call[1]
    if not axes or #axes == 0 then
      if call:get("noop_with_empty_axes", 0) == 1 then return x end
      axes = {}
      for d = 1, x:dim() do axes[d] = d - 1 end
    end
    if #axes == 0 then return reduce(x:reshape(1), {1}, false) end
    return reduce(x, Call.dims(axes), call:get("keepdims", 1) == 1)
  end
end

local function prod(x, dims, keep)
  local rank, ordered = x:dim(), {}
  for i, d in ipairs(dims) do ordered[i] = d < 0 and d + rank + 1 or d end
  table.sort(ordered)
  for i = #ordered, 1, -1 do x = x:prod(ordered[i], keep) end
  return x
end

M.ReduceSum = reduction(13, function(x, dims, keep) return core.sum(x, dims, keep):to(x:dtype()) end)
M.ReduceMean = reduction(18, function(x, dims, keep)
  if Call.is_floating(x) then return core.mean(x, dims, keep) end
  return core.mean(x:double(), dims, keep):to(x:dtype())
end)
M.ReduceProd = reduction(18, function(x, dims, keep) return prod(x, dims, keep):to(x:dtype()) end)
M.ReduceMax = reduction(18, core.amax)
M.ReduceMin = reduction(18, core.amin)
M.ReduceL1 = reduction(18, function(x, dims, keep) return core.sum(x:abs(), dims, keep):to(x:dtype()) end)
M.ReduceL2 = reduction(18, function(x, dims, keep) return core.sum(x:square(), dims, keep):sqrt():to(x:dtype()) end)
M.ReduceSumSquare = reduction(18, function(x, dims, keep) return core.sum(x:square(), dims, keep):to(x:dtype()) end)
M.ReduceLogSum = reduction(18, function(x, dims, keep) return core.sum(x, dims, keep):log() end)
M.ReduceLogSumExp = reduction(18, core.logsumexp)

local function arg(name)
  return function(call)
    local x = call[1]
    local axis = call:axis(x, 0)
    local keep = call:get("keepdims", 1) == 1
    if call:get("select_last_index", 0) == 0 then return core[name](x, axis, keep) end
    return x:size(axis) - 1 - core[name](x:flip(axis), axis, keep)
  end
end
M.ArgMax, M.ArgMin = arg "argmax", arg "argmin"

-- Before opset 13, the dims from an axis on count as one dim.
local function softmax(name)
  return function(call)
    local x = call[1]
    if call.opset >= 13 then return core[name](x, dim(call:get("axis", -1))) end
    local flat = x:reshape {Call.sizes_around(x, call:get("axis", 1))}
    return core[name](flat, 2):reshape(x:size())
  end
end
M.Softmax, M.LogSoftmax = softmax "softmax", softmax "log_softmax"
function M.Hardmax(call)
  local x = call[1]
  local axis = call:axis(x, call.opset >= 13 and -1 or 1)
  return core.zeros_like(x):scatter(axis, core.argmax(x, axis, true), 1.0)
end

function M.CumSum(call)
  local x = call[1]
  local axis = Call.axis_within(call:integer(2), x:dim()) + 1
  local backwards, exclusive = call:get("reverse", 0) == 1, call:get("exclusive", 0) == 1
  if backwards then x = x:flip(axis) end
  x = core.cumsum(x, axis, {exclusive = exclusive, dtype = x:dtype()})
  return backwards and x:flip(axis) or x
end

function M.TopK(call)
  return core.topk(call[1], call:integer(2), dim(call:get("axis", -1)), call:get("largest", 1) == 1, true)
end

function M.LpNormalization(call)
  local axis = dim(call:get("axis", -1))
  return call[1] / core.vector_norm(call[1], call:get("p", 2), axis, true)
end
function M.MeanVarianceNormalization(call)
  local dims = Call.dims(call:get("axes", {0, 2, 3}))
  local mean = core.mean(call[1], dims, true)
  local centred = call[1] - mean
  return centred / (core.mean(centred:square(), dims, true):sqrt() + 1e-9)
end

function M.LayerNormalization(call)
  local x = call[1]
  local axis = Call.axis_within(call:get("axis", -1), x:dim())
  local shape, dims = {}, {}
  for d = axis + 1, x:dim() do
    shape[#shape + 1] = x:size(d)
    dims[#dims + 1] = d
  end
  local eps = call:get("epsilon", 1e-5)
  local y = core.layer_norm(x, shape, call[2] and call[2]:reshape(shape), call[3] and call[3]:reshape(shape), eps)
  if #call.node.outputs == 1 then return y end
  local mean = core.mean(x, dims, true)
  return y, mean, (core.mean((x - mean):square(), dims, true) + eps):rsqrt()
end

return M
