-- SyncBatchNorm(num_features, options): batch normalization with the statistics of all ranks' samples; ranks may have
-- different numbers of samples. In training each rank sends the count, the means and the variances of its samples:
--   mean = sum n_r mean_r / n,  var = sum n_r (var_r + (mean_r - mean)^2) / n   (Chan, Golub, LeVeque 1979), in f64
-- and backward adds the sums of dy and dy y over the ranks:
--   dx = w / std (dy - sum dy / n - y sum(dy y) / n),  y = (x - mean) / std
-- The gradients of weight and bias come from this rank's samples. In evaluation, and in a world of one rank, it is
-- nn.SyncBatchNorm.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local norms = require "lunagrad.nn.norm"
local slots = require "lunagrad.distributed.slots"
local tree = require "lunagrad.nn.tree"

local world, fail = core._world, core._fail

local SyncBatchNorm = class("SyncBatchNorm", norms.SyncBatchNorm)

local function add_up(x)
  return (world.wait(world.all_reduce_(x, "sum", "sums of a batch norm")))
end

-- The statistics of all samples in f64: the number of samples, and for each channel the mean and the biased variance.
local function statistics(x, dims)
  local channels = x:size(2)
  local count = x:numel() // math.max(channels, 1)
  local own = core.zeros({1, 2 * channels + 1}, {dtype = "f64", device = x:device()})
  if count > 0 then
    own:narrow(2, 1, channels):copy_(x:mean(dims))
    -- The variance may leave the range of f32 where the deviation does not, so it is squared in f64.
    own:narrow(2, channels + 1, channels):copy_(x:std(dims, {correction = 0}):to("f64"):square())
    own:narrow(2, 2 * channels + 1, 1):fill_(count)
  end
  local all = world.wait(world.all_gather(own, "statistics of a batch norm"))
  local means, variances = all:narrow(2, 1, channels), all:narrow(2, channels + 1, channels)
  local counts = all:narrow(2, 2 * channels + 1, 1)
  local total = counts:sum()
  local mean = (means * counts):sum(1) / total
  local variance = ((variances + (means - mean):square()) * counts):sum(1) / total
  return total:item(), mean, variance
end

local function normalized(x, weight, bias, eps, took)
  local dims, shape = {}, {}
  for d = 1, x:dim() do
    shape[d] = d == 2 and x:size(2) or 1
    if d ~= 2 then dims[#dims + 1] = d end
  end
  local dtype, total = x:dtype(), nil
  local op = core.custom_op {
    name = "sync_batch_norm",
    forward = function(ctx, input, w, b)
      local mean, variance
      total, mean, variance = statistics(input, dims)
      if total <= 1 then fail("SyncBatchNorm: in training each channel needs more than one value on all ranks together") end
      took(total, mean, variance)
      local scale = (variance + eps):rsqrt():to(dtype):reshape(shape)
      local y = (input - mean:to(dtype):reshape(shape)) * scale
      ctx:save(y, scale, w)
      if not w then return y end
      return y * w:reshape(shape) + b:reshape(shape)
    end,
    backward = function(ctx, gradient)
      local y, scale, w = ctx:saved()
      local channels = y:size(2)
      local bias_grad, weight_grad = gradient:sum(dims), (gradient * y):sum(dims)
      local sums = add_up(core.cat({bias_grad:to("f64"), weight_grad:to("f64")}, 1)) / total
      local mean, slope = sums:narrow(1, 1, channels):to(dtype), sums:narrow(1, channels + 1, channels):to(dtype)
      local input_grad = (gradient - mean:reshape(shape) - y * slope:reshape(shape)) * scale
      if not w then return input_grad end
      return input_grad * w:reshape(shape), weight_grad, bias_grad
    end,
  }
  if weight then return op(x, weight, bias) end
  return op(x)
end

function SyncBatchNorm:forward(x)
  if not self.training and self.track_running_stats or world.size() == 1 then return norms.SyncBatchNorm.forward(self, x) end
  self:check(x, 2, 8)
  if x:size(2) ~= self.num_features then
    fail(("SyncBatchNorm: %d channels expected (got shape [%s])"):format(self.num_features, table.concat(x:size(), ", ")))
  end
  if slots.running() then
    fail("SyncBatchNorm: deterministic training normalizes each slot by itself; leave nn's batch norms as they are")
  end
  local momentum = self:count_batch()
  -- 16-bit floats are normalized in f32.
  local narrow = x:element_size() < 4 and x:dtype()
  local function wide(tensor) return narrow and tensor and tensor:float() or tensor end
  local y = normalized(wide(x), wide(self.weight), wide(self.bias), self.eps, function(total, mean, variance)
    if not (self.training and self.track_running_stats) or core._recomputing() then return end
    local dtype = self.running_mean:dtype()
    self.running_mean:copy_(self.running_mean * (1 - momentum) + (mean * momentum):to(dtype))
    self.running_var:copy_(self.running_var * (1 - momentum) + (variance * (momentum * total / (total - 1))):to(dtype))
  end)
  return narrow and y:to(narrow) or y
end

-- Makes every batch norm of a model a SyncBatchNorm with the same tensors, and returns the model.
function SyncBatchNorm.convert(model)
  if not tree.is_module(model) then fail(("SyncBatchNorm.convert: a module expected (got %s)"):format(type(model))) end
  norms.SyncBatchNorm.convert_sync_batchnorm(model)
  for _, part in ipairs(model:modules()) do
    if getmetatable(part) == norms.SyncBatchNorm then setmetatable(part, SyncBatchNorm) end
  end
  return model
end

return SyncBatchNorm
