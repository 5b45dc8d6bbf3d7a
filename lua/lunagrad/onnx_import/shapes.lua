-- Operators that make tensors or change shapes.
local core = require "lunagrad.core"
local Call = require "lunagrad.onnx_import.call"

local M = {}
local refuse, axis_within = Call.refuse, Call.axis_within

-- Shapes are computed on the CPU.
function M.Shape(call)
  local sizes = call[1]:size()
  local first, last = call:get("start", 0), call:get("end", #sizes)
  if first < 0 then first = first + #sizes end
  if last < 0 then last = last + #sizes end
  local out = {}
  for d = math.max(first, 0) + 1, math.min(last, #sizes) do out[#out + 1] = sizes[d] end
  return core.tensor(out, {dtype = "i64", device = "cpu"})
end
function M.Size(call) return core.tensor(call[1]:numel(), {dtype = "i64", device = "cpu"}) end

function M.Reshape(call)
  local shape = call:integers(2)
  if call:get("allowzero", 0) == 0 then
    for d, size in ipairs(shape) do
      if size == 0 then shape[d] = call[1]:size(d) end
    end
  end
  return call[1]:reshape(shape)
end

function M.Flatten(call) return call[1]:reshape {Call.sizes_around(call[1], call:get("axis", 1))} end

function M.Transpose(call)
  local order = call:get "perm"
  if not order then
    order = {}
    for d = call[1]:dim(), 1, -1 do order[#order + 1] = d - 1 end
  end
  if #order == 0 then return call[1] end
  return call[1]:permute(Call.dims(order))
end

-- The axes as non-negative numbers in ascending order, in which they can be inserted one by one.
local function ordered(axes, rank)
  local out = {}
  for i, axis in ipairs(axes) do out[i] = axis_within(axis, rank) end
  table.sort(out)
  for i = 2, #out do
    if out[i] == out[i - 1] then refuse("axis %d is given twice", out[i]) end
  end
  return out
end

function M.Unsqueeze(call)
  local axes, x = call:axes(2, 13), call[1]
  if not axes then refuse "the axes are missing" end
  for _, axis in ipairs(ordered(axes, x:dim() + #axes)) do x = x:unsqueeze(axis + 1) end
  return x
end

function M.Squeeze(call)
  local axes, x = call:axes(2, 13), call[1]
  if not axes then return x:squeeze() end
  axes = ordered(axes, x:dim())
  for i = #axes, 1, -1 do
    if x:size(axes[i] + 1) ~= 1 then core._fail(("dim %d has size %d, not 1"):format(axes[i] + 1, x:size(axes[i] + 1))) end
    x = x:squeeze(axes[i] + 1)
  end
  return x
end

function M.Expand(call)
  local x, shape = call[1], call:integers(2)
  local sizes = x:size()
  while #shape < #sizes do table.insert(shape, 1, 1) end
  for d = 1, #shape do
    local size = rawget(sizes, d - (#shape - #sizes))
    if shape[d] == 1 and size then shape[d] = size end
  end
  return x:broadcast_to(shape)
end

function M.Tile(call) return call[1]:tile(call:integers(2)) end
function M.Concat(call)
  local parts = {}
  for i = 1, #call.node.inputs do parts[i] = call[i] end
  return core.cat(parts, call:axis(call[1]))
end

function M.Split(call)
  local x, count = call[1], #call.node.outputs
  local axis = call:axis(x, 0)
  local sizes = call.opset < 13 and call.attributes.split or call:integers(2)
  if call:get("num_outputs", count) ~= count or sizes and #sizes ~= count then
    refuse("its %d outputs are not as many as its %s", count, sizes and "sizes" or "num_outputs")
  end
  if not sizes then
    local total = x:size(axis)
    local each = (total + count - 1) // count
    sizes = {}
    for i = 1, count do sizes[i] = math.max(0, math.min(each, total - each * (i - 1))) end
  end
  return table.unpack(core.split(x, sizes, axis))
end

-- Starts and ends count from 0 and are clamped; steps may be negative.
function M.Slice(call)
  local x, starts, ends, axes, steps
  x = call[1]
  if call.opset < 10 then
    starts, ends, axes = call.attributes.starts, call.attributes.ends, call.attributes.axes
  else
    starts, ends, axes, steps = call:integers(2), call:integers(3), call:integers(4), call:integers(5)
  end
  if not starts or not ends then refuse "its starts or ends are missing" end
  for name, list in pairs {ends = ends, axes = axes or starts, steps = steps or starts} do
    if #list ~= #starts then refuse("it has %d starts and %d %s", #starts, #list, name) end
  end
  for i, start in ipairs(starts) do
    local d = axis_within(axes and axes[i] or i - 1, x:dim()) + 1
    local size, step, stop = x:size(d), steps and steps[i] or 1, ends[i]
    if step == 0 then refuse("step %d is 0", i) end
    step = math.max(-math.maxinteger, step)
    local function clamped(position, low, high)
      if position < 0 then position = position + size end
      return math.max(low, math.min(position, high))
    end
    if step > 0 then
      local first, last = clamped(start, 0, size), clamped(stop, 0, size)
      x = last > first and x:slice(d, first + 1, last, step) or x:narrow(d, 1, 0)
    else
      local first, last = clamped(start, -1, size - 1), stop < -size and -1 or clamped(stop, -1, size - 1)
      local count = first > last and (first - last - 1) // -step + 1 or 0
      if count == 0 then
        x = x:narrow(d, 1, 0)
      else
        local low = first + step * (count - 1)
        x = x:slice(d, low + 1, first + 1, -step):flip(d)
      end
    end
  end
  return x
end

-- ONNX lists all begins, then all ends. core.pad takes begin and end of each dim, the last dim first.
function M.Pad(call)
  local x = call[1]
  local widths = call.opset < 11 and call.attributes.pads or call:integers(2)
  local value = call.opset < 11 and call:get("value", 0.0) or call[3] and call:number(3) or 0
  local axes = call:integers(4)
  local rank, before, behind = x:dim(), {}, {}
  local count = axes and #axes or rank
  if not widths or #widths ~= 2 * count then refuse("%d pads are given for %d dims; two for each are expected", #(widths or {}), count) end
  for i = 1, count do
    local d = axis_within(axes and axes[i] or i - 1, rank)
    before[d], behind[d] = widths[i], widths[count + i]
  end
  for d = 0, rank - 1 do  -- negative widths crop
    local low, high = math.min(before[d] or 0, 0), math.min(behind[d] or 0, 0)
    if low < 0 or high < 0 then x = x:narrow(d + 1, 1 - low, x:size(d + 1) + low + high) end
  end
  local pads, any = {}, false
  for d = rank - 1, 0, -1 do
    pads[#pads + 1], pads[#pads + 2] = math.max(before[d] or 0, 0), math.max(behind[d] or 0, 0)
  end
  while #pads > 0 and pads[#pads] == 0 and pads[#pads - 1] == 0 do pads[#pads], pads[#pads - 1] = nil, nil end
  any = #pads > 0
  if not any then return x end
  local mode = ({constant = "constant", reflect = "reflect", edge = "replicate", wrap = "circular"})[call:get("mode", "constant")]
  if mode == "constant" then return core.pad(x, pads, mode, value) end
  return core.pad(x, pads, mode)
end

function M.ConstantOfShape(call)
  local value = call:get "value"
  local shape = call:integers(1)
  if value and value:numel() ~= 1 then refuse("its value has %d elements, not 1", value:numel()) end
  if not value then return core.full(shape, 0.0, {dtype = "f32", device = "cpu"}) end
  return core.full(shape, value:reshape(-1)[1]:item(), {dtype = value:dtype(), device = "cpu"})
end

function M.Range(call)
  local start, limit, step = call:number(1), call:number(2), call:number(3)
  return core.arange(start, limit, step, {dtype = call[1]:dtype(), device = "cpu"})
end

function M.EyeLike(call)
  local x = call[1]
  local dtype = call:get "dtype" and Call.dtypes[call:get "dtype"] or x:dtype()
  local ones = core.ones(x:size(), {dtype = dtype, device = x:device()})
  local k = call:get("k", 0)
  return ones:triu(k):tril(k)
end

function M.Trilu(call)
  local k = call:integer(2) or 0
  return call:get("upper", 1) == 1 and call[1]:triu(k) or call[1]:tril(k)
end

function M.DepthToSpace(call)
  call:expect_rank(1, 4, 4)
  local n, c, h, w = table.unpack(call[1]:size())
  local b = call:get "blocksize"
  if c % (b * b) ~= 0 then refuse("its %d channels are no multiple of the square of blocksize %d", c, b) end
  local x
  if call:get("mode", "DCR") == "DCR" then
    x = call[1]:reshape(n, b, b, c // (b * b), h, w):permute(1, 4, 5, 2, 6, 3)
  else
    x = call[1]:reshape(n, c // (b * b), b, b, h, w):permute(1, 2, 5, 3, 6, 4)
  end
  return x:reshape(n, c // (b * b), h * b, w * b)
end

function M.SpaceToDepth(call)
  call:expect_rank(1, 4, 4)
  local n, c, h, w = table.unpack(call[1]:size())
  local b = call:get "blocksize"
  if h % b ~= 0 or w % b ~= 0 then refuse("its %d rows and %d columns are no multiples of blocksize %d", h, w, b) end
  return call[1]:reshape(n, c, h // b, b, w // b, b):permute(1, 4, 6, 2, 3, 5):reshape(n, c * b * b, h // b, w // b)
end

return M
