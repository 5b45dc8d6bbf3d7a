-- Bilinear(in1_features, in2_features, out_features, {bias = true}): y_o = x1 W_o x2 + b_o on the last dims.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
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

function Bilinear:forward(x1, x2)
  local n, shape, other = self.in1_features, x1:size(), x2:size()
  for d = 1, math.max(#shape, #other) - 1 do
    if shape[d] ~= other[d] or #shape ~= #other then
      core._fail(("Bilinear: inputs have shapes [%s] and [%s]; all but the last dims must be the same"):format(
        table.concat(shape, ", "), table.concat(other, ", ")))
    end
  end
  if shape[#shape] ~= n or other[#other] ~= self.in2_features then
    core._fail(("Bilinear: inputs of %d and %d features expected (got shapes [%s] and [%s])"):format(
      n, self.in2_features, table.concat(shape, ", "), table.concat(other, ", ")))
  end
  -- W x2 for each output and each feature of x1, then the dot product with x1.
  local products = core.linear(x2, self.weight:reshape(self.out_features * n, self.in2_features))
  shape[#shape] = self.out_features
  shape[#shape + 1] = n
  local y = products:reshape(shape):matmul(x1:unsqueeze(-1)):squeeze(-1)
  return self.bias and y + self.bias or y
end

function Bilinear:extra_repr()
  return ("%d, %d, %d%s"):format(self.in1_features, self.in2_features, self.out_features,
    self.bias and "" or ", bias = false")
end

return Bilinear
