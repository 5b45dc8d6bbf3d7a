-- The spectral norm of a weight by power iteration, and the norm of its slices: the mathematics of weight_norm and spectral_norm.
local core = require "lunagrad.core"

local spectral = {}

-- The weight as a matrix whose rows are its slices along `dim`.
function spectral.matrix(weight, dim)
  if dim ~= 1 then weight = weight:transpose(1, dim) end
  return weight:reshape(weight:size(1), -1)
end

local function normalized(x, eps) return x / x:norm():clamp(eps) end

-- Power iterations: new estimates u, v of the first singular vectors.
function spectral.iterate(matrix, u, v, count, eps)
  for _ = 1, count do
    u = normalized(matrix:mv(v), eps)
    v = normalized(matrix:t():mv(u), eps)
  end
  return u, v
end

-- Random unit vectors for a matrix.
function spectral.start(matrix, eps)
  local function unit(n)
    return normalized(core.randn({n}, {dtype = matrix:dtype(), device = "cpu"}):to(matrix:device()), eps)
  end
  return unit(matrix:size(1)), unit(matrix:size(2))
end

function spectral.sigma(matrix, u, v) return (u * matrix:mv(v)):sum() end

-- The norms of the slices along `dim`, kept as dims of size 1; over all elements when dim is false.
function spectral.slice_norms(weight, dim)
  local dims = {}
  for d = 1, weight:dim() do
    if d ~= dim then dims[#dims + 1] = d end
  end
  if #dims == 0 then return weight:abs() end
  return weight:norm(2, dims, true)
end

-- Returns a checked dim of a weight, from 1; nil returns the default, false stands for all elements.
function spectral.check_dim(owner, dim, weight, default)
  if dim == nil then return default end
  if dim == false then return false end
  local n = weight:dim()
  if math.type(dim) ~= "integer" or dim == 0 or dim > n or dim < -n then
    core._fail(("%s: dim %s is out of range for a weight of %d dims"):format(owner, tostring(dim), n))
  end
  return dim < 0 and dim + n + 1 or dim
end

-- The output dim of a layer's weight: 2 for transposed convolutions, else 1.
function spectral.output_dim(module)
  return module.__name:find "ConvTranspose" and 2 or 1
end

function spectral.check_weight(owner, module, name)
  local tree = require "lunagrad.nn.tree"
  if not tree.is_module(module) then core._fail(("%s: a module expected (got %s)"):format(owner, type(module))) end
  local weight = module._kinds[name] == "parameter" and module[name]
  if not core.is_tensor(weight) then
    core._fail(("%s: %s has no parameter '%s'"):format(owner, module.__name, tostring(name)))
  end
  return weight
end

return spectral
