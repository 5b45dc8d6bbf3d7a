-- MaxPool1d, MaxPool2d(kernel_size, {stride, padding, dilation, ceil_mode}), AvgPool1d, AvgPool2d(kernel_size, {stride,
-- padding, ceil_mode, count_include_pad, divisor_override}): the stride defaults to the kernel size. Only
-- AvgPool2d takes divisor_override. AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveMaxPool2d(output_size).
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local sizes = require "lunagrad.nn.sizes"
local reader = require("lunagrad.arguments").reader

local modules = {}

-- The options of the op, in its order.
local function define(name, op, dims, ...)
  local Pool = class(name)
  local options = {...}
  local read = reader(name, "kernel_size", {"stride"}, {"padding", 0}, ...)

  function Pool:init(...)
    local a = read(...)
    self.kernel_size, self.stride = sizes.expand(a.kernel_size, dims), sizes.expand(a.stride or a.kernel_size, dims)
    self.padding = sizes.expand(a.padding, dims)
    for _, option in ipairs(options) do self[option[1]] = a[option[1]] end
  end

  function Pool:forward(x)
    local values = {}
    for i, option in ipairs(options) do values[i] = self[option[1]] end
    return op(x, self.kernel_size, self.stride, self.padding, table.unpack(values, 1, #options))
  end

  function Pool:extra_repr()
    local parts = {("%s, stride = %s, padding = %s"):format(
      sizes.text(self.kernel_size), sizes.text(self.stride), sizes.text(self.padding))}
    for _, option in ipairs(options) do
      local value = self[option[1]]
      if value ~= option[2] then
        parts[#parts + 1] = ("%s = %s"):format(option[1], type(value) == "table" and sizes.text(value) or tostring(value))
      end
    end
    return table.concat(parts, ", ")
  end

  modules[name] = Pool
end

define("MaxPool1d", core.max_pool1d, 1, {"dilation", 1}, {"ceil_mode", false})
define("MaxPool2d", core.max_pool2d, 2, {"dilation", 1}, {"ceil_mode", false})
define("AvgPool1d", core.avg_pool1d, 1, {"ceil_mode", false}, {"count_include_pad", true})
define("AvgPool2d", core.avg_pool2d, 2, {"ceil_mode", false}, {"count_include_pad", true}, {"divisor_override"})

local function define_adaptive(name, op, dims)
  local Pool = class(name)
  local read = reader(name, "output_size")

  function Pool:init(...)
    self.output_size = sizes.expand(read(...).output_size, dims)
  end

  function Pool:forward(x)
    return op(x, self.output_size)
  end

  function Pool:extra_repr()
    return sizes.text(self.output_size)
  end

  modules[name] = Pool
end

define_adaptive("AdaptiveAvgPool1d", core.adaptive_avg_pool1d, 1)
define_adaptive("AdaptiveAvgPool2d", core.adaptive_avg_pool2d, 2)
define_adaptive("AdaptiveMaxPool2d", core.adaptive_max_pool2d, 2)

return modules
