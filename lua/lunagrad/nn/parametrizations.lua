-- nn.utils.parametrizations: weight_norm, spectral_norm and orthogonal.
local core = require "lunagrad.core"
local class = require("lunagrad.nn.class").of_library
local parametrize = require "lunagrad.nn.parametrize"
local spectral = require "lunagrad.nn.spectral"
local reader = require("lunagrad.arguments").reader

local parametrizations = {}

-- Salimans, Kingma, "Weight normalization", NeurIPS 2016: w = g v / |v|, with a length g for each slice along dim.
local WeightNorm = class("_WeightNorm")

function WeightNorm:init(dim) self.dim = dim end
function WeightNorm:forward(g, v) return v * (g / spectral.slice_norms(v, self.dim)) end
function WeightNorm:right_inverse(weight) return {spectral.slice_norms(weight, self.dim), weight} end

local read_weight = reader("weight_norm", "module", {"name", "weight"}, {"dim"})

-- The originals are the lengths (original0) and the directions (original1). dim = false: one length for all elements.
function parametrizations.weight_norm(...)
  local a = read_weight(...)
  local weight = spectral.check_weight("weight_norm", a.module, a.name)
  return parametrize.register_parametrization(a.module, a.name,
    WeightNorm(spectral.check_dim("weight_norm", a.dim, weight, 1)), {unsafe = true})
end

-- Miyato et al., "Spectral normalization for generative adversarial networks", ICLR 2018: w / sigma(w). The vectors of
-- the power iteration are buffers, which a forward pass in training updates.
local SpectralNorm = class("_SpectralNorm")

function SpectralNorm:init(weight, count, dim, eps)
  self.dim, self.count, self.eps, self.flat = dim, count, eps, weight:dim() == 1
  if self.flat then return end
  local _ <close> = core.no_grad()
  local matrix = spectral.matrix(weight:detach(), dim)
  local u, v = spectral.start(matrix, eps)
  u, v = spectral.iterate(matrix, u, v, 15, eps)
  self:register_buffer("_u", u)
  self:register_buffer("_v", v)
end

function SpectralNorm:forward(weight)
  if self.flat then return weight / weight:norm():clamp(self.eps) end
  local matrix = spectral.matrix(weight, self.dim)
  if self.training then
    local _ <close> = core.no_grad()
    local u, v = spectral.iterate(matrix:detach(), self._u, self._v, self.count, self.eps)
    self._u:copy_(u)
    self._v:copy_(v)
  end
  return weight / spectral.sigma(matrix, self._u:clone(), self._v:clone())
end

function SpectralNorm:right_inverse(value) return value end

local read_spectral = reader("spectral_norm", "module", {"name", "weight"}, {"n_power_iterations", 1}, {"eps", 1e-12},
  {"dim"})

function parametrizations._read_spectral(...)
  local a = read_spectral(...)
  local weight = spectral.check_weight("spectral_norm", a.module, a.name)
  if math.type(a.n_power_iterations) ~= "integer" or a.n_power_iterations < 1 then
    core._fail(("spectral_norm: n_power_iterations must be a positive integer (got %s)"):format(
      tostring(a.n_power_iterations)))
  end
  a.dim = spectral.check_dim("spectral_norm", a.dim, weight, spectral.output_dim(a.module)) or 1
  return a, weight
end

function parametrizations.spectral_norm(...)
  local a, weight = parametrizations._read_spectral(...)
  return parametrize.register_parametrization(a.module, a.name,
    SpectralNorm(weight, a.n_power_iterations, a.dim, a.eps))
end

-- The exponential of a matrix: Taylor's series of degree 12 of A / 2^s, squared s times (Higham, "Functions of
-- Matrices", 2008, chapter 10). The norm of A / 2^s is at most 1/2, so that the remainder is below 1e-13.
local function matrix_exp(a)
  local norm = a:detach():abs():sum(2):max():item()
  local squarings = norm > 0.5 and norm < math.huge and math.ceil(math.log(norm / 0.5, 2)) or 0
  a = a / 2 ^ squarings
  local one = core.eye(a:size(1), {dtype = a:dtype(), device = a:device()})
  local sum = one
  for k = 12, 1, -1 do sum = one + a:matmul(sum) / k end
  for _ = 1, squarings do sum = sum:matmul(sum) end
  return sum
end

-- An orthonormal basis of the columns of a matrix [n, k], n >= k: Gram-Schmidt, twice.
local function orthonormal(matrix)
  local columns = {}
  for i = 1, matrix:size(2) do
    local v = matrix:select(2, i)
    for _ = 1, 2 do
      for _, q in ipairs(columns) do v = v - q * (q * v):sum() end
      v = v / v:norm():clamp(1e-30)
    end
    columns[i] = v
  end
  return core.stack(columns, 2)
end

-- w = exp(A - A^T) base with the lower triangle of A (Lezcano-Casado, "Trivializations for gradient-based optimization
-- on manifolds", NeurIPS 2019). At the start A = 0, and the base is an orthonormal basis of the weight. A weight with
-- more columns than rows has orthonormal rows, otherwise orthonormal columns.
local Orthogonal = class("_Orthogonal")

function Orthogonal:init(weight)
  self.wide = weight:size(1) < weight:size(2)
  local tall = self.wide and weight:t() or weight
  self:register_buffer("base", core.no_grad(function() return orthonormal(tall:detach()):contiguous() end))
end

function Orthogonal:forward(a)
  if self.wide then a = a:t() end
  local n, k = a:size(1), a:size(2)
  if n ~= k then a = core.cat({a, core.zeros({n, n - k}, {dtype = a:dtype(), device = a:device()})}, 2) end
  a = a:tril(-1)
  local q = matrix_exp(a - a:t()):matmul(self.base)
  return self.wide and q:t() or q
end

-- An assigned value becomes the base.
function Orthogonal:right_inverse(value)
  local tall = self.wide and value:t() or value
  self.base:copy_(orthonormal(tall))
  return core.zeros_like(value)
end

local read_orthogonal = reader("orthogonal", "module", {"name", "weight"}, {"orthogonal_map"}, {"use_trivialization", true})

function parametrizations.orthogonal(...)
  local a = read_orthogonal(...)
  local weight = spectral.check_weight("orthogonal", a.module, a.name)
  if weight:dim() ~= 2 then
    core._fail(("orthogonal: a weight of two dims expected (got shape [%s])"):format(table.concat(weight:size(), ", ")))
  elseif a.orthogonal_map ~= nil and a.orthogonal_map ~= "matrix_exp" then
    core._fail(("orthogonal: orthogonal_map is 'matrix_exp', which reaches the same matrices (got '%s')"):format(
      tostring(a.orthogonal_map)))
  elseif not a.use_trivialization then
    core._fail("orthogonal: use_trivialization is always true: the weight begins at its own orthonormal basis")
  end
  return parametrize.register_parametrization(a.module, a.name, Orthogonal(weight))
end

return parametrizations
