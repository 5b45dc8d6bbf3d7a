-- LayerNorm(normalized_shape, {eps, elementwise_affine}): mean 0 and deviation 1 over the last dims, then y w + b.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local init = require "lunagrad.nn.initialize"
local reader = require("lunagrad.arguments").reader

local LayerNorm = class("LayerNorm")
local read = reader("LayerNorm", "normalized_shape", {"eps", 1e-5}, {"elementwise_affine", true}, {"bias", true},
  {"device"}, {"dtype"})

function LayerNorm:init(...)
  local a = read(...)
  local shape = type(a.normalized_shape) == "table" and a.normalized_shape or {a.normalized_shape}
  self.normalized_shape, self.eps = shape, a.eps
  if a.elementwise_affine then
    self.weight = init.parameter(shape, a, init.ones_)
    if a.bias then self.bias = init.parameter(shape, a, init.zeros_) end
  end
end

function LayerNorm:forward(x)
  return core.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
end

function LayerNorm:extra_repr()
  return ("{%s}, eps = %g"):format(table.concat(self.normalized_shape, ", "), self.eps)
end

return LayerNorm
