-- Linear(in_features, out_features, {bias = true, activation = "none"}): y = activation(x W^T + b) on the last dim. The
-- activation is "relu", "tanh", "sigmoid" or "none", and is applied in the same pass over memory.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local init = require "lunagrad.nn.initialize"
local within = require "lunagrad.nn.within"
local reader = require("lunagrad.arguments").reader

local Linear = class("Linear")
local read = reader("Linear", "in_features", "out_features", {"bias", true}, {"device"}, {"dtype"},
  {"activation", "none"})

-- As in PyTorch, weight and bias are uniform within 1 / sqrt(in_features); without inputs the bias is 0.
function Linear:init(...)
  local a = read(...)
  self.in_features, self.out_features = a.in_features, a.out_features
  self.activation = within.checked("Linear", a.activation)
  local bound = a.in_features > 0 and 1 / math.sqrt(a.in_features) or 0
  self.weight = init._parameter({a.out_features, a.in_features}, a, init.uniform_, -bound, bound)
  if a.bias then self.bias = init._parameter({a.out_features}, a, init.uniform_, -bound, bound) end
end

function Linear:forward(x)
  return core.linear(x, self.weight, self.bias, self.activation)
end

function Linear:extra_repr()
  return ("%d, %d%s%s"):format(self.in_features, self.out_features, self.bias and "" or ", bias = false",
    self.activation == "none" and "" or (", activation = %q"):format(self.activation))
end

return Linear
