-- MaxPool2d(kernel_size, {stride, padding, dilation, ceil_mode}): the stride is the kernel size when left out.
local core = require "lunagrad.core"
local class = require "lunagrad.nn.class"
local reader = require("lunagrad.arguments").reader

local MaxPool2d = class("MaxPool2d")
local read = reader("MaxPool2d", "kernel_size", {"stride"}, {"padding", 0}, {"dilation", 1}, {"ceil_mode", false})

local function pair(value)
  return type(value) == "table" and value or {value, value}
end

function MaxPool2d:init(...)
  local a = read(...)
  self.kernel_size, self.stride = pair(a.kernel_size), pair(a.stride or a.kernel_size)
  self.padding, self.dilation, self.ceil_mode = pair(a.padding), pair(a.dilation), a.ceil_mode
end

function MaxPool2d:forward(x)
  return core.max_pool2d(x, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)
end

function MaxPool2d:extra_repr()
  local function text(value)
    return value[1] == value[2] and tostring(value[1]) or ("{%d, %d}"):format(value[1], value[2])
  end
  return ("%s, stride = %s, padding = %s"):format(text(self.kernel_size), text(self.stride), text(self.padding))
end

return MaxPool2d
