-- Conv1d, Conv2d, Conv3d(in_channels, out_channels, kernel_size, {stride, padding, dilation, groups, bias, padding_mode,
-- activation}) for [N, C, W], [N, C, H, W], [N, C, D, H, W]; ConvTranspose1d, ConvTranspose2d, ConvTranspose3d(in_channels,
-- out_channels, kernel_size, {stride, padding, output_padding, groups, bias, dilation}), called with an input and, to choose
-- among the sizes that the stride leaves open, output_size. A size is one number for all dims, or a list with one for each.
-- The padding of a convolution may be "same" or "valid", its padding_mode "zeros", "reflect", "replicate" or "circular". Its
-- activation, "relu", "tanh" or "sigmoid", is applied in the same pass over memory.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local init = require "lunagrad.nn.initialize"
local sizes = require "lunagrad.nn.sizes"
local within = require "lunagrad.nn.within"
local reader = require("lunagrad.arguments").reader

local modules = {}

local padding_modes = {reflect = true, replicate = true, circular = true}

local function checked_mode(owner, mode)
  if not padding_modes[mode] then
    core._fail(("%s: padding_mode must be 'zeros', 'reflect', 'replicate' or 'circular' (got '%s')"):format(owner,
      tostring(mode)))
  end
  return mode
end

-- The widths before and after each dim, the last dim first, as core.pad takes them.
local function widths(conv, dims)
  local list = {}
  for d = dims, 1, -1 do
    if conv.padding == "same" then
      local total = conv.dilation[d] * (conv.kernel_size[d] - 1)
      list[#list + 1] = total // 2
      list[#list + 1] = total - total // 2
    else
      local width = conv.padding == "valid" and 0 or conv.padding[d] or conv.padding[1]
      list[#list + 1] = width
      list[#list + 1] = width
    end
  end
  return list
end

-- The output_padding that gives a transposed convolution the wanted sizes.
local function padding_for(conv, name, dims, x, wanted)
  local count = #wanted
  if count ~= dims and count ~= x:dim() then
    core._fail(("%s: output_size must have %d or %d sizes (got %d)"):format(name, dims, x:dim(), count))
  end
  local list = {}
  for d = 1, dims do
    local function of(field) return conv[field][d] or conv[field][1] end
    local least = (x:size(d - dims - 1) - 1) * of "stride" - 2 * of "padding"
      + of "dilation" * (of "kernel_size" - 1) + 1
    local size = wanted[count - dims + d]
    if size < least or size > least + of "stride" - 1 then
      core._fail(("%s: output_size {%s} does not fit: dim %d may have %d to %d elements"):format(name,
        table.concat(wanted, ", "), x:dim() - dims + d, least, least + of "stride" - 1))
    end
    list[d] = size - least
  end
  return list
end

-- As in PyTorch, weight and bias are uniform within 1 / sqrt(fan_in), with fan_in from the weight's second dim.
local function define(name, op, dims, transposed, ...)
  local Conv = class(name)
  Conv._optional.padding_mode = true
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
      if a.padding_mode ~= "zeros" then self.padding_mode = checked_mode(name, a.padding_mode) end
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
    function Conv:forward(x, output_size)
      local extra = output_size and padding_for(self, name, dims, x, output_size) or self.output_padding
      return op(x, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)
    end
  else
    function Conv:forward(x)
      local padding = self.padding
      if self.padding_mode then
        x, padding = core.pad(x, widths(self, dims), self.padding_mode), 0
      end
      return op(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups, self.activation)
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
    if self.padding_mode then add("padding_mode", ("%q"):format(self.padding_mode)) end
    if not transposed then add("activation", ("%q"):format(self.activation), '"none"') end
    return table.concat(parts, ", ")
  end

  modules[name] = Conv
end

for dims, op in ipairs {core.conv1d, core.conv2d, core.conv3d} do
  define(("Conv%dd"):format(dims), op, dims, false, {"stride", 1}, {"padding", 0}, {"dilation", 1}, {"groups", 1},
    {"bias", true}, {"padding_mode", "zeros"}, {"device"}, {"dtype"}, {"activation", "none"})
end
for dims, op in ipairs {core.conv_transpose1d, core.conv_transpose2d, core.conv_transpose3d} do
  define(("ConvTranspose%dd"):format(dims), op, dims, true, {"stride", 1}, {"padding", 0}, {"output_padding", 0},
    {"groups", 1}, {"bias", true}, {"dilation", 1}, {"device"}, {"dtype"})
end

return modules
