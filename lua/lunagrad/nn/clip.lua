-- nn.utils: what is done to all gradients at once, between backward and the optimizer's step.
local core = require "lunagrad.core"

local clip = {}

local function gradients(parameters)
  local list = {}
  for _, parameter in ipairs(core.is_tensor(parameters) and {parameters} or parameters) do
    if parameter.grad then list[#list + 1] = parameter.grad end
  end
  return list
end

-- Scales the gradients so that together they have at most the norm max_norm; returns the norm before, a tensor.
function clip.clip_grad_norm_(parameters, max_norm)
  local _ <close> = core.no_grad()
  local grads = gradients(parameters)
  local total = core.zeros {}
  for _, grad in ipairs(grads) do total = total + (grad * grad):sum() end
  local norm = total:sqrt()
  -- Where the norm is small enough the factor is 1, without reading the norm: a device need not wait.
  local factor = (max_norm / (norm + 1e-6)):clamp(0, 1)
  for _, grad in ipairs(grads) do grad:mul_(factor) end
  return norm
end

-- Clamps every element of the gradients to [-limit, limit].
function clip.clip_grad_value_(parameters, limit)
  local _ <close> = core.no_grad()
  for _, grad in ipairs(gradients(parameters)) do grad:clamp_(-limit, limit) end
end

return clip
