-- nn.utils: clipping of gradients, between backward and the optimizer's step.
local core = require "lunagrad.core"

local clip = {}

local function gradients(name, parameters)
  if core.is_tensor(parameters) then parameters = {parameters} end
  if type(parameters) ~= "table" or getmetatable(parameters) then
    core._fail(("%s: a list of parameters expected, as model:parameters() gives"):format(name))
  end
  local list = {}
  for _, parameter in ipairs(parameters) do
    if parameter.grad then list[#list + 1] = parameter.grad end
  end
  return list
end

-- Scales the gradients so that their common norm is at most max_norm. Returns the norm before, as a tensor.
function clip.clip_grad_norm_(parameters, max_norm, norm_type)
  return core._clip_grad_norm_(gradients("clip_grad_norm_", parameters), max_norm, norm_type)
end

-- Clamps every element of the gradients to [-limit, limit].
function clip.clip_grad_value_(parameters, limit)
  local _ <close> = core.no_grad()
  for _, grad in ipairs(gradients("clip_grad_value_", parameters)) do grad:clamp_(-limit, limit) end
end

return clip
