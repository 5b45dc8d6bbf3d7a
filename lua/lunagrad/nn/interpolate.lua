-- F.interpolate(input, {size, scale_factor, mode, align_corners, recompute_scale_factor}): the op, with two additions:
-- a list of factors, one for each spatial dim, and recompute_scale_factor, which resizes by the ratio of the sizes
-- instead of by the factor. F.upsample is its old name.
local core = require "lunagrad.core"
local functional = require "lunagrad.nn.functional"
local reader = require("lunagrad.arguments").reader

local fail = core._fail

local read = reader("interpolate", "input", {"size"}, {"scale_factor"}, {"mode", "nearest"}, {"align_corners", false},
  {"recompute_scale_factor", false}, {"antialias", false})

-- For each mode, the mode that resizes one dim of lines [N, C, W] in the same way.
local line_modes = {
  nearest = "nearest", ["nearest-exact"] = "nearest-exact", linear = "linear", bilinear = "linear", trilinear = "linear",
}

-- Resizes dim d of x by a factor of its own.
local function resize_dim(x, d, factor, mode, align_corners)
  local moved = x:movedim(d, -1)
  local shape = moved:size()
  local length = shape[#shape]
  if line_modes[mode] then
    moved = core.interpolate(moved:reshape(1, -1, length), nil, factor, line_modes[mode], align_corners)
  else -- lines become images of equal rows, enough of them that at least one row remains
    local rows = math.max(1, math.ceil(1 / factor))
    moved = moved:reshape(-1, 1, 1, length):expand(-1, 1, rows, length)
    moved = core.interpolate(moved, nil, factor, mode, align_corners):narrow(3, 1, 1)
  end
  shape[#shape] = moved:size(-1)
  return moved:reshape(shape):movedim(-1, d)
end

local function check_factors(x, factors)
  local dims = x:dim() - 2
  if #factors ~= 1 and #factors ~= dims then
    fail(("interpolate: scale_factor must be one number or %d (got %d)"):format(dims, #factors))
  end
  for i, factor in ipairs(factors) do
    if type(factor) ~= "number" or not (factor > 0 and factor < math.huge) then
      fail(("interpolate: scale_factor must be greater than 0 (got %s at position %d)"):format(tostring(factor), i))
    end
  end
end

-- floor(size * factor) for each spatial dim.
local function scaled_size(x, factors)
  local size = {}
  for d = 3, x:dim() do
    local wanted = x:size(d) * (factors[d - 2] or factors[1])
    if not (wanted >= 1 and wanted < 2 ^ 40) then
      fail(("interpolate: dim %d would go from %d elements to %g"):format(d, x:size(d), wanted))
    end
    size[d - 2] = math.floor(wanted)
  end
  return size
end

function functional.interpolate(...)
  local a = read(...)
  local x, factor, mode, align = a.input, a.scale_factor, a.mode, a.align_corners or false
  if not core.is_tensor(x) then fail(("interpolate: a tensor expected (got %s)"):format(type(x))) end
  if a.antialias then fail("interpolate: antialias does not exist; blur the input first") end
  if factor == nil or a.size ~= nil or x:dim() < 3 then return core.interpolate(x, a.size, factor, mode, align) end
  local factors = type(factor) == "table" and factor or {factor}
  if type(factor) == "table" or a.recompute_scale_factor then check_factors(x, factors) end
  if type(factors[1]) ~= "number" then return core.interpolate(x, nil, factor, mode, align) end
  if a.recompute_scale_factor or mode == "area" then
    return core.interpolate(x, scaled_size(x, factors), nil, mode, align)
  end
  if #factors == 1 then return core.interpolate(x, nil, factors[1], mode, align) end
  local equal = true
  for i = 2, #factors do equal = equal and factors[i] == factors[1] end
  if equal then return core.interpolate(x, nil, factors[1], mode, align) end
  if not line_modes[mode] and mode ~= "bicubic" then return core.interpolate(x, nil, factors[1], mode, align) end
  for i = #factors, 1, -1 do
    if math.floor(x:size(i + 2) * factors[i]) < 1 then
      fail(("interpolate: dim %d would go from %d elements to 0"):format(i + 2, x:size(i + 2)))
    end
    x = resize_dim(x, i + 2, factors[i], mode, align)
  end
  return x
end

functional.upsample = functional.interpolate

function functional.upsample_nearest(input, size, scale_factor)
  return functional.interpolate(input, size, scale_factor, "nearest")
end

function functional.upsample_bilinear(input, size, scale_factor)
  return functional.interpolate(input, size, scale_factor, "bilinear", true)
end
