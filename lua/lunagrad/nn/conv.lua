-- Conv1d, Conv2d, Conv3d(in_channels, out_channels, kernel_size, {stride, padding, dilation, groups, bias, activation})
-- for [N, C, W], [N, C, H, W], [N, C, D, H, W]; ConvTranspose1d, ConvTranspose2d(in_channels, out_channels, kernel_size,
-- {stride, padding, output_padding, groups, bias, dilation}). A size is one number for all dims, or a list
-- with one for each. The padding of a convolution may be "same" or "valid". Its activation, "relu", "tanh" or "sigmoid", is
-- applied in the same pass over memory.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local init = require "lunagrad.nn.initialize"
local sizes = require "lunagrad.nn.sizes"
local within = require "lunagrad.nn.within"
local reader = require("lunagrad.arguments").reader

local modules = {}

-- As in PyTorch, weight and bias are uniform within 1 / sqrt(fan_in), with fan_in from the weight's second dim.
local function define(name, op, dims, transposed, ...)
  local Conv = class(name)
  local read = reader(name, "in_channels", "out_channels", "kernel_size", ...)

  function Conv:init(...)
    local a = read(...)
    if a.groups < 1 or a.in_channels % a.groups ~= 0 or a.out_channels % a.groups ~= 0 then
      core._fail(("%s: %d and %d channels do not divide into %d groups"):format(
        name, a.in_channels, a.out_channels, a.groups))
    end
    self.in_channels, self.out_channels, self.groups = a.in_channels, a.out_channels, a.groups
    self.kernel_size, self.stride = sizes.expand(a.kernel_size, dims), sizes.expand(a.stride, dims)
    self.padding = type(a.padding) == "string" and a.padding or sizes.expand(a.padding, dims)
    self.dilation = sizes.expand(a.dilation, dims)
    if transposed then
      self.output_padding = sizes.expand(a.output_padding, dims)
    else
      self.activation = within.checked(name, a.activation)
    end
    local first, second = a.out_channels, a.in_channels // a.groups
    if transposed then first, second = a.in_channels, a.out_channels // a.groups end
    local shape, fan = {first, second}, second
    for i, size in ipairs(self.kernel_size) do
      shape[2 + i] = size
      fan = fan * size
    end
    local bound = 1 / math.sqrt(fan)
    self.weight = init._parameter(shape, a, init.uniform_, -bound, bound)
    if a.bias then self.bias = init._parameter({a.out_channels}, a, init.uniform_, -bound, bound) end
  end

  if transposed then
    function Conv:forward(x)
      return op(x, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation)
    end
  else
    function Conv:forward(x)
      return op(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups, self.activation)
    end
  end

  function Conv:extra_repr()
    local parts = {("%d, %d, %s"):format(self.in_channels, self.out_channels, sizes.text(self.kernel_size))}
    local function add(field, value, default)
      if value ~= default then parts[#parts + 1] = ("%s = %s"):format(field, value) end
    end
    add("stride", sizes.text(self.stride), "1")
    add("padding", sizes.text(self.padding), "0")
    if transposed then add("output_padding", sizes.text(self.output_padding), "0") end
    add("dilation", sizes.text(self.dilation), "1")
    add("groups", self.groups, 1)
    add("bias", self.bias ~= nil, true)
    if not transposed then add("activation", ("%q"):format(self.activation), '"none"') end
    return table.concat(parts, ", ")
  end

  modules[name] = Conv
end

for dims, op in ipairs {core.conv1d, core.conv2d, core.conv3d} do
  define(("Conv%dd"):format(dims), op, dims, false, {"stride", 1}, {"padding", 0}, {"dilation", 1}, {"groups", 1},
    {"bias", true}, {"device"}, {"dtype"}, {"activation", "none"})
end
for dims, op in ipairs {core.conv_transpose1d, core.conv_transpose2d} do
  define(("ConvTranspose%dd"):format(dims), op, dims, true, {"stride", 1}, {"padding", 0}, {"output_padding", 0},
    {"groups", 1}, {"bias", true}, {"dilation", 1}, {"device"}, {"dtype"})
end

return modules
