-- Joins a layer with the batch norm that follows it into one layer that computes the same in evaluation.
local core = require "lunagrad.core"
local copy = require "lunagrad.nn.copy"

local fuse = {}

-- The affine map of a batch norm in evaluation: a factor and an offset for each channel.
local function affine(owner, norm)
  if not core.is_tensor(norm.running_mean) then core._fail(("%s: the norm keeps no running statistics"):format(owner)) end
  local factor = (norm.running_var + norm.eps):rsqrt()
  if norm.weight then factor = factor * norm.weight end
  local offset = -norm.running_mean * factor
  if norm.bias then offset = offset + norm.bias end
  return factor, offset
end

local function fused(owner, layer, norm, dim)
  if layer.training or norm.training then
    core._fail(("%s: layer and norm must be in evaluation; call eval() first"):format(owner))
  end
  local made = copy(layer)
  local _ <close> = core.no_grad()
  local factor, offset = affine(owner, norm)
  local shape = {}
  for d = 1, layer.weight:dim() do shape[d] = d == dim and factor:numel() or 1 end
  if factor:numel() ~= layer.weight:size(dim) then
    core._fail(("%s: the layer has %d outputs, the norm %d channels"):format(owner, layer.weight:size(dim), factor:numel()))
  end
  local function parameter(value, like)
    return value:to(layer.weight:dtype()):contiguous():requires_grad_(like == nil or like.requires_grad)
  end
  made.weight = parameter(layer.weight * factor:reshape(shape), layer.weight)
  made.bias = parameter(layer.bias and layer.bias * factor + offset or offset, layer.bias)
  made._kinds.bias = "parameter"
  return made
end

function fuse.fuse_conv_bn_eval(conv, bn, transpose)
  return fused("fuse_conv_bn_eval", conv, bn, transpose and 2 or 1)
end

function fuse.fuse_linear_bn_eval(linear, bn) return fused("fuse_linear_bn_eval", linear, bn, 1) end

return fuse
