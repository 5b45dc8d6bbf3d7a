-- Convolutions, pools, resizing and the norms of channels.
local core = require "lunagrad.core"
local Call = require "lunagrad.onnx_import.call"

local M = {}
local refuse = Call.refuse

local function filled(count, value)
  local out = {}
  for i = 1, count do out[i] = value end
  return out
end

-- The padding before and behind each spatial dim of a window operator.
local function paddings(call, sizes, kernel, stride, dilation)
  local auto = call:get("auto_pad", "NOTSET")
  local count = #kernel
  if auto == "NOTSET" or auto == "VALID" then
    local pads = auto == "NOTSET" and call:get "pads" or filled(2 * count, 0)
    local before, behind = {}, {}
    for i = 1, count do before[i], behind[i] = pads[i], pads[count + i] end
    return before, behind
  end
  local before, behind = {}, {}
  for i = 1, count do
    local out = (sizes[i] + stride[i] - 1) // stride[i]
    local total = math.max(0, (out - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1 - sizes[i])
    local less, more = total // 2, total - total // 2
    before[i], behind[i] = auto == "SAME_UPPER" and less or more, auto == "SAME_UPPER" and more or less
  end
  return before, behind
end

-- Error unless x has 1 to 3 spatial dims and the window attributes have as many numbers as these need.
local function check_windows(call, kernel)
  call:expect_rank(1, 3, 5)
  local count = call[1]:dim() - 2
  if #kernel ~= count then refuse("its windows have %d dims, and its input has %d spatial ones", #kernel, count) end
  for name, wanted in pairs {kernel_shape = count, strides = count, dilations = count, pads = 2 * count, output_padding = count} do
    local list = call.attributes[name]
    if list and #list ~= wanted then refuse("attribute '%s' has %d numbers; %d are expected", name, #list, wanted) end
  end
  local given = call.attributes.kernel_shape
  for i = 1, count do
    if given and given[i] ~= kernel[i] then refuse("attribute 'kernel_shape' has %d where its weight has %d", given[i], kernel[i]) end
  end
end

-- The spatial sizes of x, and the attributes of its windows.
local function geometry(call, kernel)
  check_windows(call, kernel)
  local sizes = {table.unpack(call[1]:size(), 3)}
  local count = #sizes
  local stride, dilation = call:get("strides", filled(count, 1)), call:get("dilations", filled(count, 1))
  local before, behind = paddings(call, sizes, kernel, stride, dilation)
  return sizes, stride, dilation, before, behind
end

local function symmetric(before, behind)
  for i = 1, #before do
    if before[i] ~= behind[i] then return false end
  end
  return true
end

-- Pads x by different widths on the two sides, which the ops themselves do not take.
local function bordered(x, before, behind, value)
  local pads = {}
  for i = #before, 1, -1 do pads[#pads + 1], pads[#pads + 2] = before[i], behind[i] end
  return core.pad(x, pads, "constant", value)
end

function M.Conv(call)
  local x, weight = call[1], call[2]
  local kernel = {table.unpack(weight:size(), 3)}
  local _, stride, dilation, before, behind = geometry(call, kernel)
  if not symmetric(before, behind) then x, before = bordered(x, before, behind, 0.0), filled(#kernel, 0) end
  local convolution = core["conv" .. #kernel .. "d"]
  return convolution(x, weight, call[3], stride, before, dilation, call:get("group", 1))
end

function M.ConvTranspose(call)
  local x, weight, groups = call[1], call[2], call:get("group", 1)
  local kernel = {table.unpack(weight:size(), 3)}
  check_windows(call, kernel)
  local sizes = {table.unpack(x:size(), 3)}
  local count = #kernel
  local stride, dilation = call:get("strides", filled(count, 1)), call:get("dilations", filled(count, 1))
  local extra = {table.unpack(call:get("output_padding", filled(count, 0)))}
  local pads = call:get("pads", filled(2 * count, 0))
  local shape, auto = call:get "output_shape", call:get("auto_pad", "NOTSET")
  if shape and #shape < count then refuse("attribute 'output_shape' has %d numbers; %d are expected", #shape, count) end
  local before, behind = {}, {}
  for i = 1, count do
    local full = (sizes[i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1 + extra[i]
    local wanted = shape and shape[#shape - count + i] or (auto == "SAME_UPPER" or auto == "SAME_LOWER") and sizes[i] * stride[i]
    if wanted then
      local total = math.max(0, full - wanted)
      local less, more = total // 2, total - total // 2
      before[i], behind[i] = auto == "SAME_UPPER" and less or more, auto == "SAME_UPPER" and more or less
      extra[i] = extra[i] + math.max(0, wanted - full)
    else
      before[i], behind[i] = pads[i], pads[count + i]
    end
  end
  -- Computed without padding, then cropped: the widths on the two sides may differ, and output_padding may be as large
  -- as the stride allows.
  local y = core["conv_transpose" .. count .. "d"](x, weight, call[3], stride, filled(count, 0), filled(count, 0), groups, dilation)
  for i = 1, count do
    local full = y:size(i + 2)
    local length = full + extra[i] - before[i] - behind[i]
    if before[i] + length > full then  -- output_padding beyond the last window holds the bias alone
      local border = {}
      for k = count, 1, -1 do border[#border + 1], border[#border + 2] = 0, k == i and before[i] + length - full or 0 end
      local more = core.pad(core.zeros_like(y), border, "constant", 1.0)
      y = core.pad(y, border)
      if call[3] then y = y + more * call[3]:reshape(1, -1, table.unpack(filled(count, 1))) end
    end
    y = y:narrow(i + 2, before[i] + 1, length)
  end
  return y
end

-- The padding behind each dim, with the elements that ceil_mode adds to complete the last window.
local function ceiled(call, sizes, kernel, stride, dilation, before, behind)
  if call:get("ceil_mode", 0) == 0 then return behind end
  local out = {}
  for i = 1, #kernel do
    local span = (kernel[i] - 1) * dilation[i] + 1
    local padded = sizes[i] + before[i] + behind[i]
    local count = (padded - span + stride[i] - 1) // stride[i]
    if count * stride[i] >= sizes[i] + before[i] then count = count - 1 end  -- the window would begin behind the input
    out[i] = behind[i] + math.max(0, count * stride[i] + span - padded)
  end
  return out
end

-- The windows of x [N, C, …] in new last dims.
local function windows(x, kernel, stride, dilation)
  for i = 1, #kernel do
    x = x:unfold(i + 2, (kernel[i] - 1) * dilation[i] + 1, stride[i])
    if dilation[i] > 1 then x = x:slice(-1, 1, -1, dilation[i]) end
  end
  return x
end
local function window_dims(count)
  local dims = {}
  for i = 1, count do dims[i] = -i end
  return dims
end

function M.MaxPool(call)
  local x, kernel = call[1], call:get "kernel_shape"
  local sizes, stride, dilation, before, behind = geometry(call, kernel)
  if #call.node.outputs > 1 then core._fail "the indices of MaxPool are not read" end
  if not Call.is_floating(x) then
    call[1] = x:float()
    return M.MaxPool(call):to(x:dtype())
  end
  local count = #kernel
  local half = symmetric(before, behind) and count <= 2
  for i = 1, count do half = half and 2 * before[i] <= kernel[i] end
  if half then
    return core["max_pool" .. count .. "d"](x, kernel, stride, before, dilation, call:get("ceil_mode", 0) == 1)
  end
  local last = ceiled(call, sizes, kernel, stride, dilation, before, behind)
  return core.amax(windows(bordered(x, before, last, -math.huge), kernel, stride, dilation), window_dims(count))
end

function M.AveragePool(call)
  local x, kernel = call[1], call:get "kernel_shape"
  local sizes, stride, dilation, before, behind = geometry(call, kernel)
  local count, whole = #kernel, call:get("count_include_pad", 0) == 1
  local half = symmetric(before, behind) and count <= 2
  for i = 1, count do half = half and 2 * before[i] <= kernel[i] and dilation[i] == 1 end
  if half then
    return core["avg_pool" .. count .. "d"](x, kernel, stride, before, call:get("ceil_mode", 0) == 1, whole)
  end
  local last = ceiled(call, sizes, kernel, stride, dilation, before, behind)
  local dims = window_dims(count)
  local total = core.sum(windows(bordered(x, before, last, 0.0), kernel, stride, dilation), dims)
  local ones = core.ones_like(x:narrow(1, 1, 1):narrow(2, 1, 1))
  if whole then  -- the given padding counts, ceil_mode's added elements do not
    ones = bordered(ones, before, behind, 1.0)
    local more = {}
    for i = 1, count do more[i] = last[i] - behind[i] end
    ones = bordered(ones, filled(count, 0), more, 0.0)
  else
    ones = bordered(ones, before, last, 0.0)
  end
  return total / core.sum(windows(ones, kernel, stride, dilation), dims)
end

local function spatial(x)
  local dims = {}
  for d = 3, x:dim() do dims[#dims + 1] = d end
  return dims
end
function M.GlobalAveragePool(call)
  call:expect_rank(1, 3)
  return core.mean(call[1], spatial(call[1]), true)
end
function M.GlobalMaxPool(call)
  call:expect_rank(1, 3)
  return core.amax(call[1], spatial(call[1]), true)
end

-- With training_mode the node also returns the running statistics; their variance divides by n.
function M.BatchNormalization(call)
  local x, eps, momentum = call[1], call:get("epsilon", 1e-5), call:get("momentum", 0.9)
  if call:get("training_mode", 0) == 0 then
    return core.batch_norm(x, call[4], call[5], call[2], call[3], call.model.training, 1 - momentum, eps)
  end
  local dims = spatial(x)
  table.insert(dims, 1)
  local mean, variance = core.mean(x, dims), core.var(x, dims, {correction = 0})
  return core.batch_norm(x, nil, nil, call[2], call[3], true, 0.1, eps), call[4] * momentum + mean * (1 - momentum),
    call[5] * momentum + variance * (1 - momentum)
end
function M.InstanceNormalization(call)
  return core.instance_norm(call[1], nil, nil, call[2], call[3], true, 0.1, call:get("epsilon", 1e-5))
end
function M.GroupNormalization(call)
  call:expect_rank(1, 2)
  local groups, channels = call:get "num_groups", call[1]:size(2)
  if channels % groups ~= 0 then refuse("its %d channels do not make %d groups", channels, groups) end
  local function each_channel(v)  -- before opset 21, one number for each group
    if not v or v:numel() == channels then return v end
    return v:repeat_interleave(channels // groups)
  end
  return core.group_norm(call[1], groups, each_channel(call[2]), each_channel(call[3]), call:get("epsilon", 1e-5))
end

function M.LRN(call)
  call:expect_rank(1, 3)
  local x, size = call[1], call:get "size"
  local before = (size - 1) // 2
  local pads = filled(2 * (x:dim() - 2), 0)
  pads[#pads + 1], pads[#pads + 2] = before, size - 1 - before
  local sums = core.sum(core.pad(x:square(), pads):unfold(2, size, 1), -1)
  return x / (call:get("bias", 1.0) + call:get("alpha", 1e-4) / size * sums) ^ call:get("beta", 0.75)
end

-- The position in the input of each of `out` output positions along a dim of `size`, as Resize's coordinate modes
-- define it.
local function positions(mode, out, size, scale, device)
  local at = core.arange(out, {dtype = "f64", device = device})
  if mode == "asymmetric" then return at / scale end
  if mode == "align_corners" then return out == 1 and at * 0 or at * ((size - 1) / (out - 1)) end
  if mode == "pytorch_half_pixel" and out == 1 then return at * 0 end
  if mode == "half_pixel" or mode == "pytorch_half_pixel" then return (at + 0.5) / scale - 0.5 end
  refuse("coordinate mode '%s' is not read", Call.printable(mode))
end

local roundings = {
  round_prefer_floor = function(at) return (at - 0.5):ceil() end, round_prefer_ceil = function(at) return (at + 0.5):floor() end,
  floor = function(at) return at:floor() end, ceil = function(at) return at:ceil() end,
}

-- The weights of the four neighbours, for a point at distance t behind the second (Keys 1981, with coefficient a).
local function cubic(t, a)
  local function near(s) return ((a + 2) * s - (a + 3)) * s * s + 1 end
  local function far(s) return ((a * s - 5 * a) * s + 8 * a) * s - 4 * a end
  return {far(t + 1), near(t), near(1 - t), far(2 - t)}
end

function M.Resize(call)
  local x, old = call[1], call.opset < 11
  local scales, sizes = call:get "scales", nil
  if call.node.op == "Resize" then
    scales = call[old and 2 or 3] and call[old and 2 or 3]:numel() > 0 and call[old and 2 or 3]:tolist() or nil
    sizes = call[4] and call:integers(4)
  elseif not scales and call[2] then
    scales = call[2]:tolist()
  end
  if call:get("antialias", 0) == 1 then core._fail "antialias is not read" end
  local axes = call:get "axes"
  local given, rank = scales or sizes, x:dim()
  if type(given) ~= "table" or #given ~= (axes and #axes or rank) then
    refuse("%s numbers are given for %d dims; one scale or size for each is expected", type(given) == "table" and #given or "no", axes and #axes or rank)
  end
  for i, value in ipairs(given) do
    if type(value) ~= "number" or not (value > 0 and value < 1e9) then
      refuse("%s %d is %s; a number above 0 is expected", sizes and "size" or "scale", i, type(value) == "table" and "a list" or value)
    end
  end
  local mode, rule = call:get("mode", "nearest"), call:get("coordinate_transformation_mode", old and "asymmetric" or "half_pixel")
  local rounding = roundings[call:get("nearest_mode", old and "floor" or "round_prefer_floor")]
  local a = call:get("cubic_coeff_a", -0.75)
  local dtype = x:dtype()
  for i = 1, #(scales or sizes) do
    local d = Call.axis_within(axes and axes[i] or i - 1, rank) + 1
    local size = x:size(d)
    local out = sizes and sizes[i] or math.floor(size * scales[i])
    local scale = sizes and out / size or scales[i]
    if out ~= size or scale ~= 1 then
      local at = positions(rule, out, size, scale, x:device())
      local function pick(index) return core.index_select(x, d, index:clamp(0, size - 1):long()) end
      local function along(weight)
        local shape = filled(x:dim(), 1)
        shape[d] = out
        return weight:to(dtype):reshape(shape)
      end
      if mode == "nearest" then
        x = pick(rounding(at))
      elseif mode == "linear" then
        at = at:clamp(0, size - 1)
        local low = at:floor()
        local part = along(at - low)
        x = pick(low) * (1 - part) + pick(low + 1) * part
      else
        local low = at:floor()
        local weights, all = cubic(at - low, a), nil
        if call:get("exclude_outside", 0) == 1 then  -- neighbours outside the input get weight 0
          for k, weight in ipairs(weights) do
            local index = low + (k - 2)
            weights[k] = core.where(index:ge(0):logical_and(index:lt(size)), weight, core.zeros_like(weight))
            all = all and all + weights[k] or weights[k]
          end
          for k, weight in ipairs(weights) do weights[k] = weight / all end
        end
        local total
        for k, weight in ipairs(weights) do
          local term = pick(low + (k - 2)) * along(weight)
          total = total and total + term or term
        end
        x = total
      end
    end
  end
  return x
end
M.Upsample = M.Resize

return M
