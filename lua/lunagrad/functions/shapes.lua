-- Shapes: common ones, memory by strides, sums to a shape, positions as numbers.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"

local fail = core._fail
local functions, methods = {}, {}

local function text(size) return "[" .. table.concat(size, ", ") .. "]" end

-- --- common shapes ---

-- The shape that tensors of these sizes broadcast to; `owner` is the function that errors name.
local function common_shape(owner, sizes)
  local common, dims = {}, 0
  for i, size in ipairs(sizes) do
    if math.type(size) == "integer" then size = {size} end
    if type(size) ~= "table" then fail(("%s: argument %d must be a size (got %s)"):format(owner, i, type(size))) end
    dims = math.max(dims, #arguments.list(owner, size))
    for back = 1, #size do
      local here, before = size[#size - back + 1], common[back] or 1
      if math.type(here) ~= "integer" or here < 0 then
        fail(("%s: sizes are integers of 0 or more (got %s)"):format(owner, tostring(here)))
      elseif here ~= before and here ~= 1 and before ~= 1 then
        fail(("%s: dim -%d has sizes %d and %d"):format(owner, back, before, here))
      end
      common[back] = before == 1 and here or before
    end
  end
  local shape = {}
  for back = dims, 1, -1 do shape[#shape + 1] = common[back] end
  return shape
end
function functions.broadcast_shapes(...) return common_shape("broadcast_shapes", {...}) end

-- The tensors expanded to their common shape.
function functions.broadcast_tensors(...)
  local given = {...}
  if #given == 1 and not core.is_tensor(given[1]) then given = given[1] end
  local sizes, spread = {}, {}
  for i, x in ipairs(type(given) == "table" and given or {given}) do
    if not core.is_tensor(x) then fail(("broadcast_tensors: an argument must be a Tensor (got %s)"):format(type(x))) end
    sizes[i] = x:size()
  end
  local shape = common_shape("broadcast_tensors", sizes)
  for i, x in ipairs(given) do spread[i] = x:broadcast_to(shape) end
  return table.unpack(spread)
end

-- sum_to_size(2, 1) or sum_to_size{2, 1}: sums over the dims that broadcasting added or repeated.
function methods.sum_to_size(x, ...)
  local wanted = {...}
  if type(wanted[1]) == "table" then wanted = arguments.list("sum_to_size", wanted[1]) end
  local size, summed = x:size(), {}
  local more = #size - #wanted
  for d = 1, #size do
    local target = d > more and wanted[d - more] or 1
    if size[d] ~= target then
      if target ~= 1 then more = -1 end
      summed[#summed + 1] = d
    end
  end
  if more < 0 then fail(("sum_to_size: size %s does not expand to shape %s"):format(text(wanted), text(size))) end
  if #summed > 0 then x = x:sum(summed, true) end
  return x:reshape(wanted)
end

-- --- memory by strides ---

local function strided(owner, size, stride, options)
  size, stride = arguments.list(owner, size), arguments.list(owner, stride)
  if type(size) ~= "table" or type(stride) ~= "table" or #size ~= #stride then
    fail(owner .. ": size and stride are lists of equal length")
  end
  local last, empty = 0, false
  for d, n in ipairs(size) do
    if math.type(n) ~= "integer" or math.type(stride[d]) ~= "integer" or n < 0 or stride[d] < 0 then
      fail(("%s: sizes and strides are integers of 0 or more (got %s and %s)"):format(owner, text(size), text(stride)))
    end
    empty = empty or n == 0
    if n > 1 and stride[d] > 0 then
      if n - 1 > (1 << 48) // stride[d] then fail(("%s: size %s with stride %s is too large"):format(owner, text(size), text(stride))) end
      last = last + (n - 1) * stride[d]
    end
  end
  return core.empty({empty and 0 or last + 1}, options):as_strided(size, stride)
end
function functions.empty_strided(size, stride, options) return strided("empty_strided", size, stride, options) end
function methods.new_empty_strided(x, size, stride, options)
  options = options or {}
  return strided("new_empty_strided", size, stride, {dtype = options.dtype or x:dtype(), device = options.device or x:device()})
end

-- physical_layout: the dims from the outermost in memory to the innermost.
function functions.empty_permuted(size, physical_layout, options)
  size, physical_layout = arguments.list("empty_permuted", size), arguments.list("empty_permuted", physical_layout)
  if type(size) ~= "table" or type(physical_layout) ~= "table" or #size ~= #physical_layout then
    fail "empty_permuted: size and physical_layout are lists of equal length"
  end
  local sorted, back = {}, {}
  for place, d in ipairs(physical_layout) do
    if math.type(d) ~= "integer" or d < 1 or d > #size or back[d] then
      fail(("empty_permuted: physical_layout must name each of the dims 1 to %d once (got %s)"):format(#size, text(physical_layout)))
    end
    sorted[place], back[d] = size[d], place
  end
  local made = core.empty(sorted, options)
  return #size == 0 and made or made:permute(back)
end

-- --- positions ---

-- The coordinates of positions (from 0) of a flattened tensor of this shape: a tensor for each dim.
function functions.unravel_index(indices, shape)
  if not core.is_tensor(indices) or indices:dtype():find "^[fbc]" then
    fail(("unravel_index: indices must be a tensor of integers (got %s)"):format(core.is_tensor(indices) and indices:dtype() or type(indices)))
  end
  if type(shape) == "number" then shape = {shape} end
  shape = arguments.list("unravel_index", shape)
  local count = 1
  for _, n in ipairs(shape) do count = count * n end
  if indices:numel() > 0 and (indices:min():item() < 0 or indices:max():item() >= count) then
    fail(("unravel_index: indices must lie in 0 to %d, the positions of shape %s"):format(count - 1, text(shape)))
  end
  local places, rest = {}, indices
  for d = #shape, 1, -1 do
    places[d] = rest % shape[d]
    rest = rest // shape[d]
  end
  return table.unpack(places)
end

-- nonzero with a fixed number of rows: extra rows are left out, missing rows are filled.
local read_static = arguments.reader("nonzero_static", "input", "size", {"fill_value", -1})
function methods.nonzero_static(...)
  local a = read_static(...)
  if math.type(a.size) ~= "integer" or a.size < 0 then
    fail(("nonzero_static: size must be an integer of 0 or more (got %s)"):format(tostring(a.size)))
  end
  local found = a.input:nonzero()
  local rows, dims = found:size(1), found:size(2)
  if rows >= a.size then return found:narrow(1, 1, a.size) end
  return core.cat {found, core.full({a.size - rows, dims}, a.fill_value, {dtype = "i64", device = found:device()})}
end

return {functions = functions, methods = methods}
