-- Normalization: LayerNorm and RMSNorm over the last dims; BatchNormNd, SyncBatchNorm, GroupNorm, InstanceNormNd and
-- LocalResponseNorm over channels (dim 2).
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local init = require "lunagrad.nn.initialize"
local reader = require("lunagrad.arguments").reader

local norms = {}

-- Adds a weight of ones and a bias of zeros of the given shape.
local function make_affine(self, shape, options, bias)
  self.weight = init._parameter(shape, options, init.ones_)
  if bias then self.bias = init._parameter(shape, options, init.zeros_) end
end

local function list(shape)
  return type(shape) == "table" and shape or {shape}
end

-- LayerNorm(normalized_shape, {eps, elementwise_affine, bias}): mean 0 and standard deviation 1 over the last
-- dims, then y w + b.
local LayerNorm = class("LayerNorm")
local read_layer = reader("LayerNorm", "normalized_shape", {"eps", 1e-5}, {"elementwise_affine", true}, {"bias", true},
  {"device"}, {"dtype"})

function LayerNorm:init(...)
  local a = read_layer(...)
  self.normalized_shape, self.eps = list(a.normalized_shape), a.eps
  if a.elementwise_affine then make_affine(self, self.normalized_shape, a, a.bias) end
end

function LayerNorm:forward(x)
  return core.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
end

function LayerNorm:extra_repr()
  return ("{%s}, eps = %g"):format(table.concat(self.normalized_shape, ", "), self.eps)
end

-- RMSNorm(normalized_shape, {eps, elementwise_affine}): mean square 1 over the last dims, then y w. The default
-- eps is the machine epsilon of the dtype.
local RMSNorm = class("RMSNorm")
local read_rms = reader("RMSNorm", "normalized_shape", {"eps"}, {"elementwise_affine", true}, {"device"}, {"dtype"})

function RMSNorm:init(...)
  local a = read_rms(...)
  self.normalized_shape, self.eps = list(a.normalized_shape), a.eps
  if a.elementwise_affine then make_affine(self, self.normalized_shape, a) end
end

function RMSNorm:forward(x)
  return core.rms_norm(x, self.normalized_shape, self.weight, self.eps)
end

function RMSNorm:extra_repr()
  return ("{%s}%s"):format(table.concat(self.normalized_shape, ", "), self.eps and ", eps = " .. self.eps or "")
end

-- The base class of batch and instance normalization: an affine map for each channel, and running statistics.
local ChannelNorm = class("ChannelNorm")
for _, name in ipairs {"running_mean", "running_var", "num_batches_tracked"} do ChannelNorm._optional[name] = true end

function ChannelNorm:setup(a)
  self.num_features, self.eps, self.momentum = a.num_features, a.eps, a.momentum
  self.affine, self.track_running_stats = a.affine, a.track_running_stats
  if a.affine then make_affine(self, {a.num_features}, a, true) end
  if a.track_running_stats then
    local options = {dtype = a.dtype or core.get_default_dtype(), device = a.device}
    self:register_buffer("running_mean", core.zeros({a.num_features}, options))
    self:register_buffer("running_var", core.ones({a.num_features}, options))
    self:register_buffer("num_batches_tracked", core.zeros({}, {dtype = "i64", device = a.device}))
  end
end

-- Error unless the input has `least` to `most` dims.
function ChannelNorm:check(x, least, most)
  local shape = x:size()
  if #shape < least or #shape > most then
    core._fail(("%s: an input of %s dims expected (got shape [%s])"):format(self.__name,
      least == most and least or least .. " or " .. most, table.concat(shape, ", ")))
  end
end

-- The weight of the current batch in the running statistics. With momentum = false all batches have the same weight.
function ChannelNorm:count_batch()
  if not (self.training and self.track_running_stats) then return self.momentum or 0 end
  if not core._recomputing() then self.num_batches_tracked:add_(1) end
  return self.momentum or 1 / self.num_batches_tracked:item()
end

function ChannelNorm:reset_running_stats()
  if not self.track_running_stats then return end
  self.running_mean:zero_()
  self.running_var:fill_(1)
  self.num_batches_tracked:zero_()
end

function ChannelNorm:extra_repr()
  return ("%d, eps = %g, momentum = %s, affine = %s, track_running_stats = %s"):format(self.num_features, self.eps,
    tostring(self.momentum), tostring(self.affine), tostring(self.track_running_stats))
end

-- BatchNorm1d(num_features, {eps, momentum, affine, track_running_stats}): normalizes by the statistics
-- of the batch in training, and by the running statistics in evaluation.
local function batch_norm(name, least, most)
  local BatchNorm = class(name, ChannelNorm)
  local read = reader(name, "num_features", {"eps", 1e-5}, {"momentum", 0.1}, {"affine", true},
    {"track_running_stats", true}, {"device"}, {"dtype"})

  function BatchNorm:init(...) self:setup(read(...)) end

  function BatchNorm:forward(x)
    self:check(x, least, most)
    local momentum = self:count_batch()
    local by_batch = self.training or not self.track_running_stats
    return core.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, by_batch, momentum, self.eps)
  end

  norms[name] = BatchNorm
end

batch_norm("BatchNorm1d", 2, 3)
batch_norm("BatchNorm2d", 4, 4)
batch_norm("BatchNorm3d", 5, 5)
-- In nn, the batch of this process is the whole batch; lg.distributed has a class that uses all ranks' samples.
batch_norm("SyncBatchNorm", 2, 8)

-- Replaces every BatchNormNd in a module by a SyncBatchNorm with the same tensors, and returns the module.
function norms.SyncBatchNorm.convert_sync_batchnorm(module)
  local Sync = norms.SyncBatchNorm
  local function converted(norm)
    local class_of = getmetatable(norm)
    for dims = 1, 3 do
      if class_of == norms[("BatchNorm%dd"):format(dims)] then return setmetatable(norm, Sync) end
    end
    return norm
  end
  for _, part in ipairs(module:modules()) do converted(part) end
  return module
end

-- GroupNorm(num_groups, num_channels, {eps, affine}): normalizes each group of channels of each item by its own
-- statistics.
local GroupNorm = class("GroupNorm")
local read_group = reader("GroupNorm", "num_groups", "num_channels", {"eps", 1e-5}, {"affine", true}, {"device"},
  {"dtype"})

function GroupNorm:init(...)
  local a = read_group(...)
  if a.num_groups < 1 or a.num_channels % a.num_groups ~= 0 then
    core._fail(("GroupNorm: %d channels do not divide into %d groups"):format(a.num_channels, a.num_groups))
  end
  self.num_groups, self.num_channels, self.eps = a.num_groups, a.num_channels, a.eps
  if a.affine then make_affine(self, {a.num_channels}, a, true) end
end

function GroupNorm:forward(x)
  return core.group_norm(x, self.num_groups, self.weight, self.bias, self.eps)
end

function GroupNorm:extra_repr()
  return ("%d, %d, eps = %g"):format(self.num_groups, self.num_channels, self.eps)
end

-- InstanceNorm2d(num_features, {eps, momentum, affine, track_running_stats}): normalizes each channel of each
-- item by its own statistics. Takes [N, C, H, W] or [C, H, W]; InstanceNorm1d and InstanceNorm3d one spatial dim less or more.
for dims = 1, 3 do
  local name = ("InstanceNorm%dd"):format(dims)
  local InstanceNorm = class(name, ChannelNorm)
  local read = reader(name, "num_features", {"eps", 1e-5}, {"momentum", 0.1}, {"affine", false},
    {"track_running_stats", false}, {"device"}, {"dtype"})

  function InstanceNorm:init(...) self:setup(read(...)) end

  function InstanceNorm:forward(x)
    self:check(x, dims + 1, dims + 2)
    local by_input = self.training or not self.track_running_stats
    local single = x:dim() == dims + 1
    if single then x = x:unsqueeze(1) end
    local y = core.instance_norm(x, self.running_mean, self.running_var, self.weight, self.bias, by_input,
      self.momentum or 0, self.eps)
    return single and y:squeeze(1) or y
  end

  norms[name] = InstanceNorm
end

-- LocalResponseNorm(size, {alpha, beta, k}): divides by a power of the mean square of `size` neighbouring channels.
local LocalResponseNorm = class("LocalResponseNorm")
local read_response = reader("LocalResponseNorm", "size", {"alpha", 1e-4}, {"beta", 0.75}, {"k", 1})

function LocalResponseNorm:init(...)
  local a = read_response(...)
  self.size, self.alpha, self.beta, self.k = a.size, a.alpha, a.beta, a.k
end

function LocalResponseNorm:forward(x)
  return core.local_response_norm(x, self.size, self.alpha, self.beta, self.k)
end

function LocalResponseNorm:extra_repr()
  return ("%d, alpha = %g, beta = %g, k = %g"):format(self.size, self.alpha, self.beta, self.k)
end

norms.LayerNorm, norms.RMSNorm, norms.GroupNorm, norms.LocalResponseNorm = LayerNorm, RMSNorm, GroupNorm, LocalResponseNorm

return norms
