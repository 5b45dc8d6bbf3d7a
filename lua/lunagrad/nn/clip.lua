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
function clip.clip_grad_norm_(parameters, max_norm, norm_type)
  return core._clip_grad_norm_(gradients(parameters), max_norm, norm_type)
end

-- Clamps every element of the gradients to [-limit, limit].
function clip.clip_grad_value_(parameters, limit)
  local _ <close> = core.no_grad()
  for _, grad in ipairs(gradients(parameters)) do grad:clamp_(-limit, limit) end
end

return clip
