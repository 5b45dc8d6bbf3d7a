-- Functions and methods of tensors that are composed of ops: creation like another tensor, random numbers in place,
-- pieces, histograms. lunagrad/init.lua adds them to `lg` and to the methods of Tensor.
local core = require "lunagrad.core"
local arguments = require "lunagrad.arguments"

local functions, methods = {}, {}

local function need_tensor(name, argument, x)
  if core.is_tensor(x) then return x end
  core._fail(("%s: %s must be a Tensor (got %s)"):format(name, argument, type(x)))
end
local function placed(x, options)
  options = options or {}
  if type(options) ~= "table" then core._fail(("options must be a table such as {dtype = \"f32\"} (got %s)"):format(type(options))) end
  return {dtype = options.dtype or x:dtype(), device = options.device or x:device(), requires_grad = options.requires_grad}
end

-- Arguments of a size, as a table or as numbers, and then options: {2, 3}, options.
local function read_size(...)
  local given = {...}
  local options
  local last = given[#given]
  if arguments.is_options(last) or #given > 1 and arguments.holds_options(last) then options = table.remove(given) end
  if #given == 1 and type(given[1]) == "table" then given = given[1] end
  return given, options
end

-- --- creation ---

function functions.empty_like(x, options)
  return core.empty(need_tensor("empty_like", "input", x):size(), placed(x, options))
end

function functions.as_tensor(value, options)
  options = options or {}
  if not core.is_tensor(value) then return core.tensor(value, options) end
  local x = value
  if options.dtype then x = x:to(options.dtype) end
  return options.device and x:to(options.device) or x
end
functions.asarray = functions.as_tensor

function methods.new_tensor(x, value, options) return core.tensor(value, placed(x, options)) end
function methods.new_full(x, size, value, options) return core.full(size, value, placed(x, options)) end
for _, name in ipairs {"empty", "zeros", "ones"} do
  methods["new_" .. name] = function(x, ...)
    local size, options = read_size(...)
    return core[name](size, placed(x, options))
  end
end

function methods.type_as(x, other) return x:to(other) end
function methods.nelement(x) return x:numel() end
function methods.ndimension(x) return x:dim() end
local sizes = {bool = 1, u8 = 1, f16 = 2, bf16 = 2, i32 = 4, f32 = 4, i64 = 8, f64 = 8, c64 = 8, c128 = 16}
function methods.element_size(x) return sizes[x:dtype()] end
function functions.is_floating_point(x) return x:dtype():find "f%d" ~= nil end
function functions.is_complex(x) return x:dtype():sub(1, 1) == "c" end
methods.is_floating_point, methods.is_complex = functions.is_floating_point, functions.is_complex

-- --- random numbers ---

-- normal(mean, std) of tensors or of one tensor and one number; normal(mean, std, size) of two numbers.
function functions.normal(mean, std, size, options)
  if arguments.holds_options(mean) then
    mean, std, size, options = mean.mean, mean.std, mean.size, mean
    options = {dtype = options.dtype, device = options.device, requires_grad = options.requires_grad}
  elseif arguments.holds_options(std) then
    std, size, options = std.std or 1, std.size, {dtype = std.dtype, device = std.device, requires_grad = std.requires_grad}
  end
  mean, std = mean or 0, std or 1
  if type(mean) ~= "number" then need_tensor("normal", "mean", mean) end
  if type(std) ~= "number" then need_tensor("normal", "std", std) end
  if type(mean) == "number" and type(std) == "number" then
    if not size then core._fail("normal: two numbers need a size: lg.normal(mean, std, {2, 3})") end
    if std < 0 then core._fail(("normal: std must not be negative (got %s)"):format(std)) end
    options = options or {}
    local x = core.randn(size, {dtype = options.dtype, device = options.device}) * std + mean
    return options.requires_grad and x:requires_grad_() or x
  end
  local _ <close> = core.no_grad()
  if core.is_tensor(std) and std:lt(0):any():item() then
    core._fail("normal: std must not be negative")
  end
  local like = core.is_tensor(mean) and mean or std
  if core.is_tensor(mean) and core.is_tensor(std) then like = mean + std end
  return core.randn_like(like) * std + mean
end

-- Writes the result of `draw` into x. It does not depend on x, so x has no gradient afterwards.
local function fill(name, x, draw)
  if x.requires_grad and x.is_leaf and core.is_grad_enabled() then
    core._fail(name .. ": a leaf tensor that requires grad cannot be changed in place; use lg.no_grad or work on a copy")
  end
  return x:copy_(draw())
end
local function need_floats(name, x)
  if not functions.is_floating_point(x) then
    core._fail(("%s: a floating-point tensor is needed (got %s)"):format(name, x:dtype()))
  end
end
local function in_place(name, first, second, draw)
  local read = arguments.reader(name, first, second)
  methods[name] = function(x, ...)
    if not core.is_tensor(x) then core._fail(name .. ": a Tensor is needed; write x:" .. name .. "(...)") end
    local given = read(...)
    need_floats(name, x)
    for _, spec in ipairs {first, second} do
      local value = given[spec[1]]
      if value ~= nil and type(value) ~= "number" then
        core._fail(("%s: %s must be a number (got %s)"):format(name, spec[1], core.is_tensor(value) and "Tensor" or type(value)))
      end
    end
    return fill(name, x, function() return draw(x:detach(), given[first[1]], given[second[1]]) end)
  end
end
in_place("uniform_", {"from", 0.0}, {"to", 1.0}, function(x, from, to)
  if from > to then core._fail(("uniform_: from must not exceed to (got %s and %s)"):format(from, to)) end
  return x:rand_like() * (to - from) + from
end)
in_place("normal_", {"mean", 0.0}, {"std", 1.0}, function(x, mean, std)
  if std < 0 then core._fail(("normal_: std must not be negative (got %s)"):format(std)) end
  return x:randn_like() * std + mean
end)
in_place("log_normal_", {"mean", 1.0}, {"std", 2.0}, function(x, mean, std)
  if std <= 0 then core._fail(("log_normal_: std must be positive (got %s)"):format(std)) end
  return (x:randn_like() * std + mean):exp()
end)
in_place("cauchy_", {"median", 0.0}, {"sigma", 1.0}, function(x, median, sigma)
  if sigma <= 0 then core._fail(("cauchy_: sigma must be positive (got %s)"):format(sigma)) end
  return ((x:rand_like() - 0.5) * math.pi):tan() * sigma + median
end)
-- 1 - u lies in (0, 1].
in_place("exponential_", {"lambd", 1.0}, {"generator"}, function(x, rate)
  if rate <= 0 then core._fail(("exponential_: lambd must be positive (got %s)"):format(rate)) end
  return -(-x:rand_like()):log1p() / rate
end)

function methods.geometric_(x, p)
  if type(p) ~= "number" or not (p > 0 and p < 1) then
    core._fail(("geometric_: p must lie between 0 and 1 (got %s)"):format(p))
  end
  return fill("geometric_", x, function()
    local u = core.rand(x:size(), {dtype = x:dtype() == "f64" and "f64" or "f32", device = x:device()})
    return ((-u):log1p() / math.log(1 - p)):ceil():clamp(1)
  end)
end

-- random_(), random_(to), random_(from, to): whole numbers, by default all that the type holds exactly.
local most = {bool = 2, u8 = 256, i32 = 1 << 31, i64 = math.maxinteger, f16 = (1 << 11) + 1, bf16 = (1 << 8) + 1,
  f32 = (1 << 24) + 1, f64 = (1 << 53) + 1}
function methods.random_(x, from, to)
  if from and not to then from, to = 0, from end
  from, to = from or 0, to or most[x:dtype()]
  if not to then core._fail("random_: complex numbers are not supported (got " .. x:dtype() .. ")") end
  return fill("random_", x, function()
    return core.randint(from, to, x:size(), {dtype = x:dtype() == "bool" and "u8" or x:dtype(), device = x:device()})
  end)
end

function methods.bernoulli_(x, p)
  p = p or 0.5
  if arguments.holds_options(p) then p = p.p or 0.5 end
  if type(p) == "number" and not (p >= 0 and p <= 1) then
    core._fail(("bernoulli_: a probability must lie in [0, 1] (got %s)"):format(p))
  end
  return fill("bernoulli_", x, function()
    local chance = p
    if type(p) == "number" then chance = core.full(x:size(), p, {dtype = "f32", device = x:device()}) end
    return core.bernoulli(chance:detach():expand(x:size()))
  end)
end

function methods.fill_diagonal_(x, value, wrap)
  local size = x:size()
  if #size < 2 then core._fail("fill_diagonal_: at least 2 dims are needed") end
  for d = 2, #size do
    if #size > 2 and size[d] ~= size[1] then core._fail("fill_diagonal_: more than 2 dims must all have the same size") end
  end
  if #size > 2 then
    for i = 1, size[1] do
      local cell = {}
      for d = 1, #size do cell[d] = i end
      x[cell] = value
    end
    return x
  end
  x:diagonal():fill_(value)
  if wrap == true and size[1] > size[2] + 1 then
    for start = size[2] + 2, size[1], size[2] + 1 do
      x:narrow(1, start, math.min(size[2], size[1] - start + 1)):diagonal():fill_(value)
    end
  end
  return x
end

-- --- shapes and pieces ---

local function splitter(name, dims, dim_of)
  functions[name] = function(x, pieces)
    if need_tensor(name, "input", x):dim() < dims then core._fail(("%s: at least %d dims are needed (got %d)"):format(name, dims, x:dim())) end
    local dim = dim_of(x)
    if type(pieces) == "number" and (pieces < 1 or x:size(dim) % pieces ~= 0) then
      core._fail(("%s: dim %d of size %d cannot be split into %d equal pieces"):format(name, dim, x:size(dim), pieces))
    end
    return x:tensor_split(pieces, dim)
  end
  methods[name] = functions[name]
end
splitter("hsplit", 1, function(x) return x:dim() == 1 and 1 or 2 end)
splitter("vsplit", 2, function() return 1 end)
splitter("dsplit", 3, function() return 3 end)

-- --- resizing ---

-- interpolate with a table of factors, one for each spatial dim. All modes work on one dim after the other, so each dim
-- is resized by itself, as rows [rows, 1, length].
local interpolate = core.interpolate
local function resize_each(x, factors, mode, align_corners)
  if #factors ~= x:dim() - 2 then
    core._fail(("interpolate: scale_factor must be one number or %d (got %d)"):format(x:dim() - 2, #factors))
  end
  local linear = mode == "linear" or mode == "bilinear"
  for i, factor in ipairs(factors) do
    local last = x:transpose(2 + i, -1)
    local size = last:size()
    local length = table.remove(size)
    local rows = last:reshape(-1, 1, length)
    rows = interpolate(rows, {scale_factor = factor, mode = linear and "linear" or mode, align_corners = align_corners})
    size[#size + 1] = rows:size(3)
    x = rows:reshape(size):transpose(2 + i, -1)
  end
  return x:contiguous()
end
function functions.interpolate(x, ...)
  if select("#", ...) == 0 then return interpolate(x) end
  local size, factors, mode, align_corners = ...
  local options = select(select("#", ...), ...)
  if arguments.is_options(options) and type(options.scale_factor) == "table" then
    if options.size then core._fail "interpolate: give either size or scale_factor" end
    return resize_each(x, options.scale_factor, options.mode or "nearest", options.align_corners)
  elseif size == nil and type(factors) == "table" and not arguments.is_options(factors) then
    if arguments.holds_options(mode) then mode, align_corners = mode.mode, mode.align_corners end
    return resize_each(x, factors, mode or "nearest", align_corners)
  end
  return interpolate(x, ...)
end
methods.interpolate = functions.interpolate

-- --- histograms ---

-- The counts (or weights) in the bins, and the edges of the bins.
local read_histogram = arguments.reader("histogram", "input", "bins", {"range"}, {"weight"}, {"density", false})
function functions.histogram(...)
  local given = read_histogram(...)
  local x, bins = need_tensor("histogram", "input", given.input):detach():flatten(), given.bins
  if type(bins) ~= "number" then need_tensor("histogram", "bins", bins) end
  if given.weight then need_tensor("histogram", "weight", given.weight) end
  if given.range and (type(given.range) ~= "table" or #given.range ~= 2) then
    core._fail "histogram: range must be {min, max}"
  end
  need_floats("histogram", x)
  local edges = bins
  if type(bins) == "number" then
    local low, high = 0, 0
    if given.range then
      low, high = given.range[1], given.range[2]
    elseif x:numel() > 0 then
      low, high = x:min():item(), x:max():item()
    end
    if low == high then low, high = low - 0.5, high + 0.5 end
    if bins < 1 then core._fail(("histogram: bins must be at least 1 (got %d)"):format(bins)) end
    if not (high - low < math.huge and low < high) then
      core._fail(("histogram: a range of finite numbers is needed (got %s to %s)"):format(low, high))
    end
    edges = core.linspace(low, high, bins + 1, {dtype = x:dtype(), device = x:device()})
  end
  if edges:dim() ~= 1 then core._fail "histogram: the edges must have one dim" end
  local count = #edges - 1
  if count < 1 then core._fail("histogram: at least two edges are needed") end
  local place = core.bucketize(x, edges, {right = true}) - 1
  -- The last edge belongs to the last bin.
  place = core.where(x:eq(edges[-1]), count - 1, place)
  local inside = place:ge(0):logical_and(place:lt(count)):logical_and(x:isnan():logical_not())
  local weight = given.weight and given.weight:detach():flatten() or core.ones_like(x)
  weight = core.where(inside, weight, 0)
  local counts = core.zeros({count}, {dtype = x:dtype(), device = x:device()}):index_add(1, place:clamp(0, count - 1), weight)
  if given.density then counts = counts / (counts:sum() * edges:diff()) end
  return counts, edges
end
methods.histogram = functions.histogram

for name, method in pairs(methods) do core.methods[name] = method end
for name, fn in pairs(functions) do core[name] = fn end
return functions
