-- Numbers: ranges, random integers, differences along dims, histograms of several variables, rounding to a quantized grid.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"

local fail, reader = core._fail, arguments.reader
local functions = {}

-- --- creation ---

-- randint_like(x, high) or randint_like(x, low, high), and options.
function functions.randint_like(x, low, high, options)
  if not core.is_tensor(x) then fail(("randint_like: a Tensor is needed (got %s)"):format(type(x))) end
  if arguments.holds_options(low) then
    options = low
    low, high = options.low or 0, options.high
  elseif high == nil or arguments.holds_options(high) then
    low, high, options = 0, low, high
  end
  options = options or {}
  return core.randint(low, high, x:size(), {dtype = options.dtype or x:dtype(), device = options.device or x:device(),
    requires_grad = options.requires_grad})
end

-- Both ends are included, unlike in arange.
local read_range = reader("range", "start", {"end"}, {"step", 1}, {"dtype"}, {"device"}, {"requires_grad"})
function functions.range(...)
  local a = read_range(...)
  local first, last, step = a.start, a["end"], a.step
  if last == nil then first, last = 0, first end
  for name, value in pairs {start = first, ["end"] = last, step = step} do
    if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then
      fail(("range: %s must be a finite number (got %s)"):format(name, tostring(value)))
    end
  end
  if step == 0 or (last - first) / step < 0 then
    fail(("range: a step of %s does not lead from %s to %s"):format(step, first, last))
  end
  local count = math.floor((last - first) / step) + 1
  local made = (core.arange(0, count, 1, {dtype = "f64", device = "cpu"}) * step + first):to(a.dtype or core.get_default_dtype())
  made = made:to(a.device or core.device())
  return a.requires_grad and made:requires_grad_() or made
end

-- --- gradient ---

local function part(x, dim, first, last) return x:narrow(dim, first, last - first + 1) end

-- Weights of three neighbours at distances a and b, for the derivative at the first, the middle and the last of them.
local weights = {
  first = function(a, b) return -(2 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b)) end,
  middle = function(a, b) return -b / (a * (a + b)), (b - a) / (a * b), a / (b * (a + b)) end,
  last = function(a, b) return b / (a * (a + b)), -(a + b) / (a * b), (a + 2 * b) / (b * (a + b)) end,
}

-- gaps: the distances of neighbours, a tensor [n - 1] that broadcasts from dim on.
local function derivative(x, dim, gaps, edge_order)
  local n = x:size(dim)
  local function gap(first, last) return part(gaps, dim, first, last) end
  local function three(at, from, to, a, b)
    local left, middle, right = weights[at](a, b)
    return part(x, dim, from, to) * left + part(x, dim, from + 1, to + 1) * middle + part(x, dim, from + 2, to + 2) * right
  end
  local pieces = {}
  if edge_order == 1 then
    pieces[1] = (part(x, dim, 2, 2) - part(x, dim, 1, 1)) / gap(1, 1)
  else
    pieces[1] = three("first", 1, 1, gap(1, 1), gap(2, 2))
  end
  if n > 2 then pieces[2] = three("middle", 1, n - 2, gap(1, n - 2), gap(2, n - 1)) end
  if edge_order == 1 then
    pieces[#pieces + 1] = (part(x, dim, n, n) - part(x, dim, n - 1, n - 1)) / gap(n - 1, n - 1)
  else
    pieces[#pieces + 1] = three("last", n - 2, n - 2, gap(n - 2, n - 2), gap(n - 1, n - 1))
  end
  return core.cat(pieces, dim)
end

-- gradient: a tensor for each dim, by second-order differences of samples. spacing is a distance, a distance for each
-- dim, or a tensor of coordinates for each dim.
local read_gradient = reader("gradient", "input", {"spacing"}, {"dim"}, {"edge_order", 1})
function functions.gradient(...)
  local a = read_gradient(...)
  local x, order = a.input, a.edge_order
  if not core.is_tensor(x) then fail(("gradient: input must be a Tensor (got %s)"):format(type(x))) end
  if order ~= 1 and order ~= 2 then fail(("gradient: edge_order is 1 or 2 (got %s)"):format(tostring(order))) end
  if x:dtype():find "^[iub]%d?%d?%d?$" or x:dtype() == "bool" then x = x:to(core.get_default_dtype()) end
  local dims = a.dim
  if dims == nil then
    dims = {}
    for d = 1, x:dim() do dims[d] = d end
  elseif type(dims) == "number" then
    dims = {dims}
  end
  local spacing = a.spacing or 1
  if type(spacing) == "table" and #spacing ~= #dims then
    fail(("gradient: spacing must have an entry for each of %d dims (got %d)"):format(#dims, #spacing))
  end
  local results = {}
  for i, given in ipairs(dims) do
    local dim = given < 0 and given + x:dim() + 1 or given
    if dim < 1 or dim > x:dim() then fail(("gradient: dim %d is out of range for %d dims"):format(given, x:dim())) end
    local n = x:size(dim)
    if n < order + 1 then
      fail(("gradient: dim %d of size %d is too short for edge_order %d"):format(dim, n, order))
    end
    local along = type(spacing) == "table" and spacing[i] or spacing
    local shape = {}
    for d = 1, x:dim() do shape[d] = d == dim and n - 1 or 1 end
    local gaps
    if type(along) == "number" then
      gaps = core.full(shape, along, {dtype = x:dtype(), device = x:device()})
    elseif core.is_tensor(along) and along:dim() == 1 and along:size(1) == n then
      gaps = along:to(x:dtype()):diff():reshape(shape)
    else
      fail(("gradient: spacing of dim %d must be a number or %d coordinates"):format(dim, n))
    end
    results[i] = derivative(x, dim, gaps, order)
  end
  return results
end

-- --- histogramdd ---

-- Counts of the rows of input [n, d] in boxes, and the edges of the bins of each variable.
local read_histogram = reader("histogramdd", "input", "bins", {"range"}, {"weight"}, {"density", false})
function functions.histogramdd(...)
  local a = read_histogram(...)
  local x = a.input
  if not core.is_tensor(x) or x:dim() < 2 then fail "histogramdd: input must have an observation in each row: [n, variables]" end
  x = x:detach():reshape(-1, x:size(-1))
  local variables, bins = x:size(2), a.bins
  if type(bins) == "number" then
    local same = bins
    bins = {}
    for d = 1, variables do bins[d] = same end
  end
  if type(bins) ~= "table" or #bins ~= variables then
    fail(("histogramdd: bins must be a number or a list with an entry for each of %d variables"):format(variables))
  end
  if a.range and #a.range ~= 2 * variables then
    fail(("histogramdd: range must have a lowest and a highest number for each of %d variables (got %d numbers)"):format(variables, #a.range))
  end
  local edges, sizes, count = {}, {}, 1
  local inside = core.ones({x:size(1)}, {dtype = "bool", device = x:device()})
  local place = core.zeros({x:size(1)}, {dtype = "i64", device = x:device()})
  for d = 1, variables do
    local column = x:select(2, d):contiguous()
    local limits = a.range and {a.range[2 * d - 1], a.range[2 * d]}
    local _, edge = core.histogram(column, bins[d], {range = limits})
    local n = #edge - 1
    local bin = core.bucketize(column, edge, {right = true}) - 1
    bin = core.where(column:eq(edge[-1]), n - 1, bin)
    inside = inside:logical_and(bin:ge(0)):logical_and(bin:lt(n)):logical_and(column:isnan():logical_not())
    place = place * n + bin:clamp(0, n - 1)
    edges[d], sizes[d], count = edge, n, count * n
  end
  local weight = a.weight and a.weight:detach():flatten():to(x:dtype()) or core.ones({x:size(1)}, {dtype = x:dtype(), device = x:device()})
  weight = core.where(inside, weight, 0)
  local hist = core.zeros({count}, {dtype = x:dtype(), device = x:device()}):index_add(1, place, weight):reshape(sizes)
  if a.density then
    local volume = hist:sum()
    for d, edge in ipairs(edges) do
      local shape = {}
      for k = 1, variables do shape[k] = k == d and sizes[d] or 1 end
      volume = volume * edge:diff():reshape(shape)
    end
    hist = hist / volume
  end
  return hist, edges
end

-- --- rounding to a quantized grid; the gradient passes where the number lies on the grid ---

local function quantized(owner, x, scale, zero_point, low, high)
  if not core.is_tensor(x) then fail(("%s: input must be a Tensor (got %s)"):format(owner, type(x))) end
  if math.type(low) ~= "integer" or math.type(high) ~= "integer" or low > high then
    fail(("%s: quant_min must not exceed quant_max (got %s and %s)"):format(owner, tostring(low), tostring(high)))
  end
  local at = (x:detach() / scale):round() + zero_point
  local value = ((at:clamp(low, high) - zero_point) * scale):to(x:dtype())
  if not x.requires_grad then return value end
  local inside = at:ge(low):logical_and(at:le(high))
  return value + core.where(inside, x - x:detach(), 0)
end

local read_tensor = reader("fake_quantize_per_tensor_affine", "input", "scale", "zero_point", "quant_min", "quant_max")
function functions.fake_quantize_per_tensor_affine(...)
  local a = read_tensor(...)
  return quantized("fake_quantize_per_tensor_affine", a.input, a.scale, a.zero_point, a.quant_min, a.quant_max)
end

local read_channel = reader("fake_quantize_per_channel_affine", "input", "scale", "zero_point", "axis", "quant_min", "quant_max")
function functions.fake_quantize_per_channel_affine(...)
  local a = read_channel(...)
  local owner = "fake_quantize_per_channel_affine"
  local x, axis = a.input, a.axis
  if not core.is_tensor(x) or math.type(axis) ~= "integer" or axis < 1 or axis > x:dim() then
    fail(("%s: axis must be one of the dims of input (got %s)"):format(owner, tostring(axis)))
  end
  local shape = {}
  for d = 1, x:dim() do shape[d] = d == axis and x:size(d) or 1 end
  for _, name in ipairs {"scale", "zero_point"} do
    local given = a[name]
    if not core.is_tensor(given) or given:dim() ~= 1 or #given ~= x:size(axis) then
      fail(("%s: %s must be a vector with an element for each of %d channels"):format(owner, name, x:size(axis)))
    end
    a[name] = given:reshape(shape)
  end
  return quantized(owner, x, a.scale, a.zero_point, a.quant_min, a.quant_max)
end

return {functions = functions, methods = {}}
