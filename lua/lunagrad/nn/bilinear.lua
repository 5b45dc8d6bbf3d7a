-- Bilinear(in1_features, in2_features, out_features, {bias = true}): y_o = x1 W_o x2 + b_o on the last dims.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local init = require "lunagrad.nn.initialize"
local reader = require("lunagrad.arguments").reader

local Bilinear = class("Bilinear")
local read = reader("Bilinear", "in1_features", "in2_features", "out_features", {"bias", true}, {"device"}, {"dtype"})

-- As in PyTorch, uniform within 1 / sqrt(in1_features).
function Bilinear:init(...)
  local a = read(...)
  self.in1_features, self.in2_features, self.out_features = a.in1_features, a.in2_features, a.out_features
  local bound = a.in1_features > 0 and 1 / math.sqrt(a.in1_features) or 0
  self.weight = init._parameter({a.out_features, a.in1_features, a.in2_features}, a, init.uniform_, -bound, bound)
  if a.bias then self.bias = init._parameter({a.out_features}, a, init.uniform_, -bound, bound) end
end

function Bilinear:forward(x1, x2) return core.bilinear(x1, x2, self.weight, self.bias) end

function Bilinear:extra_repr()
  return ("%d, %d, %d%s"):format(self.in1_features, self.in2_features, self.out_features,
    self.bias and "" or ", bias = false")
end

return Bilinear
