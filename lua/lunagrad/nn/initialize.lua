-- nn.init: functions that fill a tensor in place with initial values and return it. Names and formulas are PyTorch's.
-- Glorot, Bengio (AISTATS 2010) for xavier; He, Zhang, Ren, Sun (ICCV 2015) for kaiming.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"

local init = {}

-- Writes without recording on the tape.
local function write(tensor, value)
  local _ <close> = core.no_grad()
  return tensor:copy_(value:to(tensor:dtype()))
end

local function drawn(tensor, draw)
  return draw(tensor:size(), {dtype = tensor:dtype(), device = "cpu"})
end

-- For complex tensors both parts are drawn.
function init.uniform_(tensor, low, high)
  if tensor:dtype():sub(1, 1) == "c" then
    init.uniform_(tensor:detach():view_as_real(), low, high)
    return tensor
  end
  low, high = low or 0, high or 1
  return write(tensor, drawn(tensor, core.rand) * (high - low) + low)
end

function init.normal_(tensor, mean, std)
  return write(tensor, drawn(tensor, core.randn) * (std or 1) + (mean or 0))
end

function init.constant_(tensor, value)
  local _ <close> = core.no_grad()
  return tensor:fill_(value)
end

function init.zeros_(tensor) return init.constant_(tensor, 0) end
function init.ones_(tensor) return init.constant_(tensor, 1) end

-- fan_in and fan_out of a weight [out, in, kernel…]: the inputs of each output, and the outputs of each input.
function init.fans(tensor)
  local shape = tensor:size()
  if #shape < 2 then
    core._fail(("nn.init: fans need at least 2 dims (got shape [%s])"):format(table.concat(shape, ", ")))
  end
  local field = 1
  for d = 3, #shape do field = field * shape[d] end
  return shape[2] * field, shape[1] * field
end

-- Nonlinearities of gain 1.
local linear = {linear = true, sigmoid = true}
for dims = 1, 3 do
  linear[("conv%dd"):format(dims)], linear[("conv_transpose%dd"):format(dims)] = true, true
end

-- The gain of a nonlinearity: the factor that restores the standard deviation of its input.
function init.calculate_gain(nonlinearity, slope)
  if nonlinearity == "tanh" then return 5 / 3 end
  if nonlinearity == "relu" then return math.sqrt(2) end
  if nonlinearity == "leaky_relu" then return math.sqrt(2 / (1 + (slope or 0.01) ^ 2)) end
  if nonlinearity == "selu" then return 3 / 4 end
  if linear[nonlinearity] then return 1 end
  core._fail(("nn.init: nonlinearity '%s' is unknown"):format(tostring(nonlinearity)))
end

function init.xavier_uniform_(tensor, gain)
  local fan_in, fan_out = init.fans(tensor)
  local bound = (gain or 1) * math.sqrt(6 / (fan_in + fan_out))
  return init.uniform_(tensor, -bound, bound)
end

function init.xavier_normal_(tensor, gain)
  local fan_in, fan_out = init.fans(tensor)
  return init.normal_(tensor, 0, (gain or 1) * math.sqrt(2 / (fan_in + fan_out)))
end

-- a: the negative slope of a leaky ReLU; mode: "fan_in" or "fan_out".
local function kaiming_deviation(tensor, a, mode, nonlinearity)
  local fan_in, fan_out = init.fans(tensor)
  local fan = mode == "fan_out" and fan_out or fan_in
  return init.calculate_gain(nonlinearity or "leaky_relu", a or 0) / math.sqrt(fan)
end

function init.kaiming_uniform_(tensor, a, mode, nonlinearity)
  local bound = math.sqrt(3) * kaiming_deviation(tensor, a, mode, nonlinearity)
  return init.uniform_(tensor, -bound, bound)
end

function init.kaiming_normal_(tensor, a, mode, nonlinearity)
  return init.normal_(tensor, 0, kaiming_deviation(tensor, a, mode, nonlinearity))
end

local function shape_text(tensor) return "[" .. table.concat(tensor:size(), ", ") .. "]" end

local function need_dims(name, tensor, least, most)
  local dims = tensor:dim()
  if dims < least or dims > most then
    core._fail(("nn.init.%s: a tensor of %s dims expected (got shape %s)"):format(name,
      least == most and least or most == math.huge and least .. " or more" or least .. " to " .. most,
      shape_text(tensor)))
  end
end

-- The inverse of erf for -1 … 1 in f64: a formula of two logarithms (Winitzki, 2008), then three steps of Newton's method.
local function inverse_erf(x)
  local a = 0.147
  local log = (-(x * x)):log1p()
  local half = log / 2 + 2 / (math.pi * a)
  local y = ((half * half - log / a):sqrt() - half):clamp(0, math.huge):sqrt() * x:sign()
  y = y:clamp(-5.9, 5.9) -- beyond, erf is 1 in f64
  for _ = 1, 3 do y = y - (y:erf() - x) * (y * y):exp() * (math.sqrt(math.pi) / 2) end
  return y
end

-- The normal distribution between a and b: the inverse of its distribution function at uniform numbers.
function init.trunc_normal_(tensor, mean, std, a, b)
  mean, std, a, b = mean or 0, std or 1, a or -2, b or 2
  if not (std > 0) or not (a < b) then
    core._fail(("nn.init.trunc_normal_: std must be greater than 0 and a less than b (got std %g, a %g, b %g)"):format(
      std, a, b))
  end
  local _ <close> = core.no_grad()
  local function erf_at(limit) return core.tensor({(limit - mean) / std / math.sqrt(2)}, {dtype = "f64", device = "cpu"}):erf():item() end
  local low, high = erf_at(a), erf_at(b)
  local drawn = core.rand(tensor:size(), {dtype = "f64", device = "cpu"}) * (high - low) + low
  return write(tensor, (inverse_erf(drawn) * (std * math.sqrt(2)) + mean):clamp(a, b))
end

-- Rows or columns, whichever are fewer, are orthonormal and then scaled by gain (Saxe et al., ICLR 2014). Dims after
-- the first count as one.
function init.orthogonal_(tensor, gain)
  need_dims("orthogonal_", tensor, 2, math.huge)
  if tensor:numel() == 0 then return tensor end
  local _ <close> = core.no_grad()
  local rows = tensor:size(1)
  local columns = tensor:numel() // rows
  local wide = rows < columns
  local drawn = core.randn(math.max(rows, columns), math.min(rows, columns), {dtype = "f64", device = "cpu"})
  local q, r = core.linalg.qr(drawn)
  q = q * core.diagonal(r):sign()  -- without the signs the distribution is not uniform
  if wide then q = q:t() end
  return write(tensor, (q * (gain or 1)):reshape(tensor:size()))
end

-- The identity matrix; extra rows or columns are zeros.
function init.eye_(tensor)
  need_dims("eye_", tensor, 2, 2)
  return write(tensor, core.eye(tensor:size(1), tensor:size(2), {device = "cpu"}))
end

-- A convolution with this weight copies its first channels: the weight is 1 in the middle of the kernel for equal
-- channels of each group.
function init.dirac_(tensor, groups)
  groups = groups or 1
  need_dims("dirac_", tensor, 3, 5)
  local shape = tensor:size()
  if math.type(groups) ~= "integer" or groups < 1 or shape[1] % groups ~= 0 then
    core._fail(("nn.init.dirac_: groups = %s must divide the %d output channels"):format(tostring(groups), shape[1]))
  end
  local _ <close> = core.no_grad()
  tensor:zero_()
  if tensor:numel() == 0 then return tensor end
  local middle = tensor
  for d = 3, #shape do middle = middle:narrow(d, shape[d] // 2 + 1, 1) end
  local ones = core.eye(shape[1] // groups, shape[2], {device = "cpu"}):tile(groups, 1)
  middle:copy_(ones:reshape(middle:size()):to(tensor:dtype()):to(tensor:device()))
  return tensor
end

-- A share `sparsity` of each column is zero, the rest normal with mean 0.
function init.sparse_(tensor, sparsity, std)
  need_dims("sparse_", tensor, 2, 2)
  if type(sparsity) ~= "number" or not (sparsity >= 0 and sparsity <= 1) then
    core._fail(("nn.init.sparse_: sparsity must lie in [0, 1] (got %s)"):format(tostring(sparsity)))
  end
  local rows = tensor:size(1)
  init.normal_(tensor, 0, std or 0.01)
  if tensor:numel() == 0 then return tensor end
  local _ <close> = core.no_grad()
  local ranks = core.rand(tensor:size(), {device = "cpu"}):argsort(1):argsort(1)
  local hidden = ranks:lt(math.ceil(sparsity * rows)):to(tensor:device())
  return tensor:copy_(tensor:masked_fill(hidden, 0))
end

-- Each function takes its arguments in PyTorch's order, or by PyTorch's names in a table at the end.
for name, names in pairs {
  uniform_ = {"a", "b"}, normal_ = {"mean", "std"}, constant_ = {"val"}, zeros_ = {}, ones_ = {},
  xavier_uniform_ = {"gain"}, xavier_normal_ = {"gain"},
  kaiming_uniform_ = {"a", "mode", "nonlinearity"}, kaiming_normal_ = {"a", "mode", "nonlinearity"},
  trunc_normal_ = {"mean", "std", "a", "b"}, orthogonal_ = {"gain"}, eye_ = {}, dirac_ = {"groups"},
  sparse_ = {"sparsity", "std"},
} do
  local fill, specs = init[name], {}
  for i, option in ipairs(names) do specs[i] = {option} end
  local read = arguments.reader("nn.init." .. name, "tensor", table.unpack(specs))
  init[name] = function(...)
    local a = read(...)
    if not core.is_tensor(a.tensor) then
      core._fail(("nn.init.%s: a tensor expected, as model.weight (got a %s)"):format(name, type(a.tensor)))
    end
    local values = {}
    for i, option in ipairs(names) do values[i] = a[option] end
    return fill(a.tensor, table.unpack(values, 1, #names))
  end
end

local made = setmetatable({}, {__mode = "k"})  -- parameter -> the function that filled it, and its arguments

-- Makes a parameter. It is filled on the CPU, so that its values are the same on every device, then moved. options:
-- device, dtype.
function init._parameter(shape, options, fill, ...)
  local tensor = core.empty(shape, {dtype = options.dtype or core.get_default_dtype(), device = "cpu"})
  if not init._skip then fill(tensor, ...) end  -- nn.utils.skip_init
  local parameter = tensor:to(options.device or core.device()):requires_grad_()
  made[parameter] = table.pack(fill, ...)
  return parameter
end

-- Returns a function fill(tensor) that initializes a tensor as the parameter's layer initialized the parameter; nil
-- when no layer made it.
function init._filling_of(parameter)
  local how = made[parameter]
  return how and function(tensor) return how[1](tensor, table.unpack(how, 2, how.n)) end
end

-- Notes that a copy of a parameter is initialized as the original.
function init._note_copy(copy, parameter) made[copy] = made[parameter] end

return init
