-- Linear(in_features, out_features, {bias = true}): y = x W^T + b on the last dim.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local init = require "lunagrad.nn.initialize"
local reader = require("lunagrad.arguments").reader

local Linear = class("Linear")
local read = reader("Linear", "in_features", "out_features", {"bias", true}, {"device"}, {"dtype"})

-- As PyTorch: weight and bias uniform within 1 / sqrt(in_features).
function Linear:init(...)
  local a = read(...)
  self.in_features, self.out_features = a.in_features, a.out_features
  local bound = 1 / math.sqrt(a.in_features)
  self.weight = init.parameter({a.out_features, a.in_features}, a, init.uniform_, -bound, bound)
  if a.bias then self.bias = init.parameter({a.out_features}, a, init.uniform_, -bound, bound) end
end

function Linear:forward(x)
  return core.linear(x, self.weight, self.bias)
end

function Linear:extra_repr()
  return ("%d, %d%s"):format(self.in_features, self.out_features, self.bias and "" or ", bias = false")
end

return Linear
