-- Functions that draw random numbers: F.gumbel_softmax, and fractional max pooling (Graham, 2014), whose windows begin at
-- random distances.
local core = require "lunagrad.core"
local functional = require "lunagrad.nn.functional"
local sizes = require "lunagrad.nn.sizes"
local reader = require("lunagrad.arguments").reader

local fail = core._fail

local read_gumbel = reader("gumbel_softmax", "logits", {"tau", 1}, {"hard", false}, {"eps", 1e-10}, {"dim", -1})

-- softmax((logits + g) / tau) with g from the Gumbel distribution. With `hard` the result is one-hot and has the
-- gradient of the softmax.
function functional.gumbel_softmax(...)
  local a = read_gumbel(...)
  local logits = a.logits
  if type(a.tau) ~= "number" or not (a.tau > 0) then
    fail(("gumbel_softmax: tau must be greater than 0 (got %s)"):format(tostring(a.tau)))
  end
  -- The smallest exponential draw that is not 0 is 2^-24.
  local exponential = (-(-core.rand(logits:size(), {dtype = logits:dtype(), device = logits:device()})):log1p()):clamp(2 ^ -25)
  local soft = ((logits - exponential:log()) / a.tau):softmax(a.dim)
  if not a.hard then return soft end
  local ones = core.ones_like(soft:detach())
  local best = soft:detach():argmax(a.dim, true)
  local hard = core.zeros_like(ones):scatter(a.dim, best, ones)
  return hard - soft:detach() + soft
end

-- The index of the first element of each window along one dim, for samples [N, C, 1]: near u + i (in - kernel) / (out -
-- 1); the last window ends at the end of the dim.
local function starts(samples, size, kernel, out)
  if out == 1 then return core.full(samples:size(), size - kernel, {dtype = "i64", device = samples:device()}) end
  local alpha = (size - kernel) / (out - 1)
  local steps = core.arange(0, out - 1, 1, {dtype = "f64", device = samples:device()})
  local first = ((samples + steps) * alpha):floor() - (samples * alpha):floor()
  local last = core.full(samples:size(), size - kernel, {dtype = "f64", device = samples:device()})
  return core.cat({first, last}, -1):to("i64")
end

-- The positions of all elements of all windows in the flattened spatial dims: [N, C, windows, elements].
local function places(x, dims, samples, kernel, out)
  local index
  for d = 1, dims do
    local size = x:size(d - dims - 1)
    local own = dims == 2 and 3 - d or d -- PyTorch draws the columns of images first
    local first = starts(samples:narrow(3, own, 1), size, kernel[d], out[d])
    local along = first:unsqueeze(-1) + core.arange(0, kernel[d], 1, {dtype = "i64", device = x:device()})
    -- [N, C, windows so far * out, elements so far * kernel]
    if index then
      local n, c, w, e = index:size(1), index:size(2), index:size(3), index:size(4)
      index = index:reshape(n, c, w, 1, e, 1) * size + along:reshape(n, c, 1, out[d], 1, kernel[d])
      index = index:reshape(n, c, w * out[d], e * kernel[d])
    else
      index = along
    end
  end
  return index
end

local function define(dims)
  local name = ("fractional_max_pool%dd"):format(dims)
  local read = reader(name, "input", "kernel_size", {"output_size"}, {"output_ratio"}, {"return_indices", false},
    {"_random_samples"})

  local function checked(field, value, least)
    local list = sizes.expand(value, dims)
    if #list ~= dims then fail(("%s: %s must be one number or %d (got %d)"):format(name, field, dims, #list)) end
    for _, size in ipairs(list) do
      if math.type(size) ~= "integer" or size < least then
        fail(("%s: %s must be at least %d (got %s)"):format(name, field, least, tostring(size)))
      end
    end
    return list
  end

  functional[name] = function(...)
    local a = read(...)
    local x, single = a.input, a.input:dim() == dims + 1
    if x:dim() ~= dims + 2 and not single then
      fail(("%s: an input of %d or %d dims expected (got shape [%s])"):format(name, dims + 1, dims + 2,
        table.concat(x:size(), ", ")))
    end
    if single then x = x:unsqueeze(1) end
    local kernel, out = checked("kernel_size", a.kernel_size, 1), nil
    if (a.output_size == nil) == (a.output_ratio == nil) then
      fail(name .. ": give either output_size or output_ratio")
    elseif a.output_size then
      out = checked("output_size", a.output_size, 1)
    else
      local ratios = sizes.expand(a.output_ratio, dims)
      out = {}
      for d = 1, dims do
        local ratio = ratios[d]
        if type(ratio) ~= "number" or not (ratio > 0 and ratio < 1) then
          fail(("%s: output_ratio must lie between 0 and 1 (got %s)"):format(name, tostring(ratio)))
        end
        out[d] = math.floor(x:size(2 + d) * ratio)
      end
      out = checked("output_size", out, 1)
    end
    for d = 1, dims do
      local size = x:size(2 + d)
      if kernel[d] > size or out[d] > size - kernel[d] + 1 then
        fail(("%s: %d windows of %d elements do not fit dim %d of shape [%s]"):format(name, out[d], kernel[d], 2 + d,
          table.concat(x:size(), ", ")))
      end
    end
    local samples = a._random_samples
      or core.rand({x:size(1), x:size(2), dims}, {dtype = "f32", device = x:device()})
    local wanted = ("%d, %d, %d"):format(x:size(1), x:size(2), dims)
    if table.concat(samples:size(), ", ") ~= wanted then
      fail(("%s: _random_samples must have shape [%s] (got [%s])"):format(name, wanted,
        table.concat(samples:size(), ", ")))
    end
    local index
    do
      local _ <close> = core.no_grad()
      index = places(x, dims, samples:detach():to("f64"), kernel, out)
    end
    local n, c, windows, elements = index:size(1), index:size(2), index:size(3), index:size(4)
    local values = x:flatten(3):gather(3, index:reshape(n, c, windows * elements)):reshape(n, c, windows, elements)
    local shape = {n, c, table.unpack(out)}
    local best, at = values:max(4)
    best = best:reshape(shape)
    if single then best = best:squeeze(1) end
    if not a.return_indices then return best end
    local taken = index:gather(4, at:unsqueeze(4)):reshape(shape)
    return best, single and taken:squeeze(1) or taken
  end

  functional[name .. "_with_indices"] = function(input, kernel_size, output_size, output_ratio, samples)
    return functional[name](input, kernel_size, output_size, output_ratio, true, samples)
  end
end

define(2)
define(3)
