-- Conv2d(in_channels, out_channels, kernel_size, {stride, padding, dilation, groups, bias}): images [N, C, H, W].
-- A size is one number for both dims, or {height, width}.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local init = require "lunagrad.nn.initialize"
local reader = require("lunagrad.arguments").reader

local Conv2d = class("Conv2d")
local read = reader("Conv2d", "in_channels", "out_channels", "kernel_size", {"stride", 1}, {"padding", 0},
  {"dilation", 1}, {"groups", 1}, {"bias", true}, {"device"}, {"dtype"})

local function pair(value)
  return type(value) == "table" and value or {value, value}
end

local function text(value)
  return value[1] == value[2] and tostring(value[1]) or ("{%d, %d}"):format(value[1], value[2])
end

-- As PyTorch: weight and bias uniform within 1 / sqrt(fan_in).
function Conv2d:init(...)
  local a = read(...)
  if a.in_channels % a.groups ~= 0 or a.out_channels % a.groups ~= 0 then
    core._fail(("Conv2d: %d and %d channels do not divide into %d groups"):format(
      a.in_channels, a.out_channels, a.groups))
  end
  self.in_channels, self.out_channels, self.groups = a.in_channels, a.out_channels, a.groups
  self.kernel_size, self.stride = pair(a.kernel_size), pair(a.stride)
  self.padding, self.dilation = pair(a.padding), pair(a.dilation)
  local inputs = a.in_channels // a.groups
  local height, width = self.kernel_size[1], self.kernel_size[2]
  local bound = 1 / math.sqrt(inputs * height * width)
  self.weight = init.parameter({a.out_channels, inputs, height, width}, a, init.uniform_, -bound, bound)
  if a.bias then self.bias = init.parameter({a.out_channels}, a, init.uniform_, -bound, bound) end
end

function Conv2d:forward(x)
  return core.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
end

function Conv2d:extra_repr()
  local parts = {("%d, %d, %s"):format(self.in_channels, self.out_channels, text(self.kernel_size))}
  local function add(name, value, default)
    if value ~= default then parts[#parts + 1] = ("%s = %s"):format(name, value) end
  end
  add("stride", text(self.stride), "1")
  add("padding", text(self.padding), "0")
  add("dilation", text(self.dilation), "1")
  add("groups", self.groups, 1)
  add("bias", self.bias ~= nil, true)
  return table.concat(parts, ", ")
end

return Conv2d
