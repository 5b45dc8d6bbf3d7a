-- Pools over 1 to 3 spatial dims. The stride defaults to the kernel size.
--   MaxPoolNd(kernel_size, {stride, padding, dilation, return_indices, ceil_mode}), MaxUnpoolNd(kernel_size, {stride, padding})
--   AvgPoolNd(kernel_size, {stride, padding, ceil_mode, count_include_pad, divisor_override}); AvgPool1d has no divisor_override
--   LPPoolNd(norm_type, kernel_size, {stride, ceil_mode})
--   AdaptiveAvgPoolNd(output_size), AdaptiveMaxPoolNd(output_size, {return_indices})
--   FractionalMaxPool2d, FractionalMaxPool3d(kernel_size, {output_size, output_ratio, return_indices})
-- With return_indices the second result holds positions (from 0) in the flattened spatial dims.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local functional = require "lunagrad.nn.functional"
local sizes = require "lunagrad.nn.sizes"
local reader = require("lunagrad.arguments").reader

local modules = {}

local function text(value)
  return type(value) == "table" and sizes.text(value) or tostring(value)
end

-- The text of the options that differ from their defaults.
local function others(self, options)
  local parts = {}
  for _, option in ipairs(options) do
    local value = self[option[1]]
    if value ~= option[2] then parts[#parts + 1] = (", %s = %s"):format(option[1], text(value)) end
  end
  return table.concat(parts)
end

-- Makes a pool class with these options; `order` lists the options that follow the padding in the op's order.
local function define(name, op, dims, options, order)
  local Pool = class(name)
  Pool._optional.return_indices = true
  local read = reader(name, "kernel_size", {"stride"}, {"padding", 0}, table.unpack(options))

  function Pool:init(...)
    local a = read(...)
    self.kernel_size, self.stride = sizes.expand(a.kernel_size, dims), sizes.expand(a.stride or a.kernel_size, dims)
    self.padding = sizes.expand(a.padding, dims)
    for _, option in ipairs(options) do self[option[1]] = a[option[1]] end
  end

  function Pool:forward(x)
    local values = {}
    for i, option in ipairs(order) do values[i] = self[option] end
    local count = #order
    if self.return_indices then
      count = count + 1
      values[count] = true
    end
    return op(x, self.kernel_size, self.stride, self.padding, table.unpack(values, 1, count))
  end

  function Pool:extra_repr()
    return ("%s, stride = %s, padding = %s%s"):format(
      sizes.text(self.kernel_size), sizes.text(self.stride), sizes.text(self.padding), others(self, options))
  end

  modules[name] = Pool
end

local function define_unpool(name, op, dims)
  local Unpool = class(name)
  local read = reader(name, "kernel_size", {"stride"}, {"padding", 0})

  function Unpool:init(...)
    local a = read(...)
    self.kernel_size, self.stride = sizes.expand(a.kernel_size, dims), sizes.expand(a.stride or a.kernel_size, dims)
    self.padding = sizes.expand(a.padding, dims)
  end

  function Unpool:forward(x, indices, output_size)
    return op(x, indices, self.kernel_size, self.stride, self.padding, output_size)
  end

  function Unpool:extra_repr()
    return ("%s, stride = %s, padding = %s"):format(
      sizes.text(self.kernel_size), sizes.text(self.stride), sizes.text(self.padding))
  end

  modules[name] = Unpool
end

local function define_lp(name, op, dims)
  local Pool = class(name)
  local read = reader(name, "norm_type", "kernel_size", {"stride"}, {"ceil_mode", false})

  function Pool:init(...)
    local a = read(...)
    self.norm_type, self.kernel_size = a.norm_type, sizes.expand(a.kernel_size, dims)
    self.stride, self.ceil_mode = sizes.expand(a.stride or a.kernel_size, dims), a.ceil_mode
  end

  function Pool:forward(x)
    return op(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
  end

  function Pool:extra_repr()
    return ("norm_type = %s, kernel_size = %s, stride = %s%s"):format(tostring(self.norm_type),
      sizes.text(self.kernel_size), sizes.text(self.stride), self.ceil_mode and ", ceil_mode = true" or "")
  end

  modules[name] = Pool
end

local function define_adaptive(name, op, dims, indices)
  local Pool = class(name)
  local read = reader(name, "output_size", table.unpack(indices and {{"return_indices", false}} or {}))

  function Pool:init(...)
    local a = read(...)
    self.output_size = sizes.expand(a.output_size, dims)
    if indices then self.return_indices = a.return_indices end
  end

  function Pool:forward(x)
    if indices and self.return_indices then return op(x, self.output_size, true) end
    return op(x, self.output_size)
  end

  function Pool:extra_repr()
    return sizes.text(self.output_size)
  end

  modules[name] = Pool
end

for dims = 1, 3 do
  local function op(form) return core[form:format(dims)] end
  define(("MaxPool%dd"):format(dims), op "max_pool%dd", dims,
    {{"dilation", 1}, {"return_indices", false}, {"ceil_mode", false}}, {"dilation", "ceil_mode"})
  local options, order = {{"ceil_mode", false}, {"count_include_pad", true}}, {"ceil_mode", "count_include_pad"}
  if dims > 1 then options[3], order[3] = {"divisor_override"}, "divisor_override" end
  define(("AvgPool%dd"):format(dims), op "avg_pool%dd", dims, options, order)
  define_unpool(("MaxUnpool%dd"):format(dims), op "max_unpool%dd", dims)
  define_lp(("LPPool%dd"):format(dims), op "lp_pool%dd", dims)
  define_adaptive(("AdaptiveAvgPool%dd"):format(dims), op "adaptive_avg_pool%dd", dims)
  define_adaptive(("AdaptiveMaxPool%dd"):format(dims), op "adaptive_max_pool%dd", dims, true)
end

for dims = 2, 3 do
  local name = ("FractionalMaxPool%dd"):format(dims)
  local Pool = class(name)
  local options = {{"output_size"}, {"output_ratio"}, {"return_indices", false}, {"_random_samples"}}
  local read = reader(name, "kernel_size", table.unpack(options))

  function Pool:init(...)
    local a = read(...)
    if (a.output_size == nil) == (a.output_ratio == nil) then
      core._fail(name .. ": give either output_size or output_ratio")
    end
    self.kernel_size = sizes.expand(a.kernel_size, dims)
    self.output_size, self.output_ratio, self.return_indices = a.output_size, a.output_ratio, a.return_indices
    if a._random_samples then self:register_buffer("_random_samples", a._random_samples) end
  end

  local apply = functional[("fractional_max_pool%dd"):format(dims)]
  function Pool:forward(x)
    return apply(x, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)
  end

  function Pool:extra_repr()
    return sizes.text(self.kernel_size) .. others(self, {{"output_size"}, {"output_ratio"}, {"return_indices", false}})
  end

  modules[name] = Pool
end

return modules
