-- Invertible functions of samples, as PyTorch's torch.distributions.transforms: y = t(x), x = t:inv(y) (t._inverse there), and
-- t:log_abs_det_jacobian(x, y) for each event of event_dim dims.
local core = require "lunagrad.core"
local constraints = require "lunagrad.distributions.constraints"
local is_plain = require("lunagrad.arguments").is_plain

local fail, is_tensor = core._fail, core.is_tensor

local function define(name)
  local class = {__name = name, event_dim = 0, sign = 1, codomain = constraints.real}
  class.__index = class
  function class.__call(self, x) return self:forward(x) end
  function class:__tostring() return name .. "()" end
  return class
end

local all = {}

local function simple(name, codomain)
  local class = define(name)
  class.codomain = codomain
  all[name] = setmetatable(class, {__call = function() return setmetatable({}, class) end})
  return class
end

local Exp = simple("ExpTransform", constraints.positive)
function Exp:forward(x) return x:exp() end
function Exp:inv(y) return y:log() end
function Exp:log_abs_det_jacobian(x) return x end

local Sigmoid = simple("SigmoidTransform", constraints.unit_interval)
function Sigmoid:forward(x) return x:sigmoid() end
function Sigmoid:inv(y)
  local eps = y:dtype() == "f64" and 2.220446049250313e-16 or 1.1920928955078125e-07
  y = y:clamp(1.1754943508222875e-38, 1 - eps)
  return y:log() - (-y):log1p()
end
function Sigmoid:log_abs_det_jacobian(x) return -(-x):softplus() - x:softplus() end

local Tanh = simple("TanhTransform", constraints.between(-1, 1))
function Tanh:forward(x) return x:tanh() end
function Tanh:inv(y) return y:atanh() end
-- log(1 - tanh(x)^2) without cancellation
function Tanh:log_abs_det_jacobian(x) return 2 * (math.log(2) - x - (-2 * x):softplus()) end

local Affine = define("AffineTransform")
function Affine:forward(x) return self.loc + self.scale * x end
function Affine:inv(y) return (y - self.loc) / self.scale end
function Affine:log_abs_det_jacobian(x)
  local log
  if is_tensor(self.scale) then
    log = self.scale:abs():log() + core.zeros_like(x)
  else
    log = core.full_like(x, math.log(math.abs(self.scale)))
  end
  for _ = 1, self.event_dim do log = log:sum(-1) end
  return log
end
-- AffineTransform(loc, scale, {event_dim =})
all.AffineTransform = setmetatable(Affine, {__call = function(_, loc, scale, options)
  for _, value in ipairs {loc, scale} do
    if type(value) ~= "number" and not is_tensor(value) then
      fail(("AffineTransform: loc and scale are numbers or tensors (got a %s)"):format(type(value)))
    end
  end
  if loc == nil or scale == nil then fail("AffineTransform: loc and scale are needed") end
  local self = setmetatable({loc = loc, scale = scale, event_dim = options and options.event_dim or 0}, Affine)
  self.sign = type(scale) == "number" and (scale < 0 and -1 or 1) or scale:sign()
  return self
end})

local function sum_last(x, count)
  for _ = 1, count do x = x:sum(-1) end
  return x
end

local Compose = define("ComposeTransform")
function Compose:forward(x)
  for _, part in ipairs(self.parts) do x = part(x) end
  return x
end
function Compose:inv(y)
  for i = #self.parts, 1, -1 do y = self.parts[i]:inv(y) end
  return y
end
function Compose:log_abs_det_jacobian(x)
  local total
  for _, part in ipairs(self.parts) do
    local y = part(x)
    local term = sum_last(part:log_abs_det_jacobian(x, y), self.event_dim - part.event_dim)
    total = total and total + term or term
    x = y
  end
  return total or core.zeros_like(x)
end
all.ComposeTransform = setmetatable(Compose, {__call = function(_, parts)
  if not is_plain(parts) then
    fail("ComposeTransform: a list of transforms expected")
  end
  local self = setmetatable({parts = parts}, Compose)
  for i, part in ipairs(parts) do
    if type(part) ~= "table" or not part.log_abs_det_jacobian then
      fail(("ComposeTransform: item %d is a %s, not a transform"):format(i, type(part)))
    end
    self.event_dim = math.max(self.event_dim, part.event_dim)
    self.sign = self.sign * part.sign
    self.codomain = part.codomain
  end
  return self
end})

return all
