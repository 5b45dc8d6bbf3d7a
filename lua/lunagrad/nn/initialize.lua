-- nn.init: functions that fill a tensor in place with initial values and return it. Names and formulas are PyTorch's.
-- Glorot, Bengio (AISTATS 2010) for xavier; He, Zhang, Ren, Sun (ICCV 2015) for kaiming.
local core = require "lunagrad.core"

local init = {}

-- The write is not recorded on the tape.
local function write(tensor, value)
  local _ <close> = core.no_grad()
  return tensor:copy_(value)
end

local function drawn(tensor, draw)
  return draw(tensor:size(), {dtype = tensor:dtype(), device = "cpu"})
end

-- Both parts of a complex tensor are drawn.
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

-- The gain of a nonlinearity: the factor that restores the standard deviation of its input.
function init.calculate_gain(nonlinearity, slope)
  if nonlinearity == "tanh" then return 5 / 3 end
  if nonlinearity == "relu" then return math.sqrt(2) end
  if nonlinearity == "leaky_relu" then return math.sqrt(2 / (1 + (slope or 0.01) ^ 2)) end
  if nonlinearity == "selu" then return 3 / 4 end
  if nonlinearity == "linear" or nonlinearity == "sigmoid" or nonlinearity == "conv2d" then return 1 end
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

-- A new parameter. It is filled on the CPU, so that its values are the same on every device, then moved. options: device,
-- dtype.
function init._parameter(shape, options, fill, ...)
  local tensor = core.empty(shape, {dtype = options.dtype or "f32", device = "cpu"})
  if not init._skip then fill(tensor, ...) end  -- nn.utils.skip_init
  return tensor:to(options.device or core.device()):requires_grad_()
end

return init
