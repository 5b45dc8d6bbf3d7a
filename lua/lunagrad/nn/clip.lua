-- nn.utils: clipping of gradients, between backward and the optimizer's step.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"
local shards = require "lunagrad.shards"

local fail, reader = core._fail, arguments.reader
local clip = {}

local function gradients(name, parameters)
  if core.is_tensor(parameters) then parameters = {parameters} end
  if not arguments.is_plain(parameters) then
    fail(("%s: a list of parameters expected, as model:parameters() gives"):format(name))
  end
  local list, sharded = {}, false
  for _, parameter in ipairs(parameters) do
    if parameter.grad then list[#list + 1] = parameter.grad end
    sharded = sharded or shards.of(parameter) ~= nil
  end
  return list, sharded and parameters
end

local function check_number(name, what, value)
  if type(value) ~= "number" then fail(("%s: %s must be a number (got %s)"):format(name, what, type(value))) end
  return value
end

-- The common norm of tensors, as one vector.
local function total_norm(name, tensors, norm_type)
  check_number(name, "norm_type", norm_type)
  if #tensors == 0 then return core.tensor(0.0) end
  local norms = {}
  for i, tensor in ipairs(tensors) do
    norms[i] = tensor:detach():reshape(-1):to(tensors[1]:device()):vector_norm(norm_type)
  end
  return core.stack(norms):vector_norm(norm_type)
end

local function check_finite(name, norm)
  if not norm:isfinite():item() then
    fail(("%s: the norm of the gradients is %s; error_if_nonfinite = false clips nevertheless"):format(name,
      tostring(norm:item())))
  end
end

local read_total = reader("get_total_norm", "tensors", {"norm_type", 2.0}, {"error_if_nonfinite", false}, {"foreach"})

function clip.get_total_norm(...)
  local a = read_total(...)
  if shards.any() then
    fail("get_total_norm: the gradients of a fully sharded model are rows of each rank; clip_grad_norm_(model:parameters(), "
      .. "math.huge) returns the norm of all")
  end
  local norm = total_norm("get_total_norm", core.is_tensor(a.tensors) and {a.tensors} or a.tensors, a.norm_type)
  if a.error_if_nonfinite then check_finite("get_total_norm", norm) end
  return norm
end

local read_norm = reader("clip_grad_norm_", "parameters", "max_norm", {"norm_type", 2.0}, {"error_if_nonfinite", false},
  {"foreach"})

-- Scales the gradients so that their common norm is at most max_norm. Returns the norm before scaling, as a tensor.
-- With error_if_nonfinite a NaN or infinite norm is an error, and no gradient changes; this waits for the device. If a
-- parameter is a shard, the norm covers the rows of all ranks, and all ranks must call this.
function clip.clip_grad_norm_(...)
  local a = read_norm(...)
  local grads, sharded = gradients("clip_grad_norm_", a.parameters)
  check_number("clip_grad_norm_", "max_norm", a.max_norm)
  if sharded then
    local norm = shards.norm(sharded, check_number("clip_grad_norm_", "norm_type", a.norm_type))
    if a.error_if_nonfinite then check_finite("clip_grad_norm_", norm) end
    clip.clip_grads_with_norm_(sharded, a.max_norm, norm)
    return norm
  end
  if a.error_if_nonfinite then check_finite("clip_grad_norm_", total_norm("clip_grad_norm_", grads, a.norm_type)) end
  return core._clip_grad_norm_(grads, a.max_norm, a.norm_type)
end

-- The second step of clip_grad_norm_, with a norm that is already known.
function clip.clip_grads_with_norm_(parameters, max_norm, norm)
  local _ <close> = core.no_grad()
  local factor = (check_number("clip_grads_with_norm_", "max_norm", max_norm) / (norm + 1e-6)):clamp(nil, 1)
  for _, grad in ipairs(gradients("clip_grads_with_norm_", parameters)) do
    grad:mul_(factor:to(grad:device()):to(grad:dtype()))
  end
end

-- Clamps every element of the gradients to [-limit, limit].
function clip.clip_grad_value_(parameters, limit)
  local _ <close> = core.no_grad()
  check_number("clip_grad_value_", "clip_value", limit)
  for _, grad in ipairs(gradients("clip_grad_value_", parameters)) do grad:clamp_(-limit, limit) end
end

return clip
